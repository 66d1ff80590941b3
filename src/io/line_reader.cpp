#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "io/byte_source.h"

namespace pantile {
namespace {

constexpr int64_t kBlock = 256 << 10;
constexpr int64_t kMostInflation = 1032;  // deflate's highest ratio

}  // namespace

/// Invariants: text[begin, end) is unpacked and not yet given; scanned bytes from begin on hold no line end.
struct LineReader::State {
  io::ByteSource source;
  int64_t longest;
  int64_t offset = 0;  // of the next bytes of the source
  bool gzip = false, source_done = false;
  z_stream inflater = {};
  Buffer packed, text;
  int64_t begin = 0, end = 0, scanned = 0;
  int64_t line = 0;

  State(io::ByteSource s, int64_t most) : source(std::move(s)), longest(most) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (gzip) inflateEnd(&inflater);
  }

  Error corrupt(const std::string& message) const {
    return {ErrorCode::corrupt,
            fmt::format("{}:{}: {}", source.name(), line + 1, message),
            {{"line", std::to_string(line + 1)}}};
  }

  Status start() {
    unsigned char magic[2] = {};
    if (source.size() >= 2) PANTILE_CHECK(source.read_at(0, magic, 2));
    PANTILE_TRY(text, Buffer::allocate(static_cast<size_t>(std::min(longest, kBlock) + kBlock)));
    if (magic[0] != 0x1f || magic[1] != 0x8b) return {};
    PANTILE_TRY(packed, Buffer::allocate(kBlock));
    if (inflateInit2(&inflater, 15 + 16) != Z_OK) return fail(ErrorCode::out_of_memory, "cannot start zlib");
    gzip = true;
    return {};
  }

  /// Up to `room` more bytes of text at `to`; 0 at the end.
  Result<int64_t> fill(char* to, int64_t room) {
    if (!gzip) {
      const int64_t n = std::min(room, source.size() - offset);
      PANTILE_CHECK(source.read_at(offset, to, n));
      offset += n;
      return n;
    }
    inflater.next_out = reinterpret_cast<Bytef*>(to);
    inflater.avail_out = static_cast<uInt>(room);
    while (inflater.avail_out == static_cast<uInt>(room)) {
      if (inflater.avail_in == 0) PANTILE_CHECK(refill());
      if (inflater.avail_in == 0) {
        if (source_done) return 0;
        return tl::unexpected(
            corrupt(fmt::format("the gzip data ends too early (at byte {}); the file is truncated", offset)));
      }
      if (source_done) {  // behind a complete member: another one, or zero padding
        if (inflater.next_in[0] == 0) {
          ++inflater.next_in;
          --inflater.avail_in;
          continue;
        }
        if (inflateReset(&inflater) != Z_OK) return tl::unexpected(corrupt("zlib cannot start over"));
        source_done = false;
      }
      const int code = inflate(&inflater, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        source_done = true;
      } else if (code == Z_MEM_ERROR) {
        return fail(ErrorCode::out_of_memory, fmt::format("{}: zlib has no memory", source.name()));
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return tl::unexpected(
            corrupt(fmt::format("broken gzip data near byte {} ({})", offset - static_cast<int64_t>(inflater.avail_in),
                                inflater.msg != nullptr ? inflater.msg : "no reason given")));
      }
    }
    return room - static_cast<int64_t>(inflater.avail_out);
  }

  Status refill() {
    const int64_t n = std::min(kBlock, source.size() - offset);
    PANTILE_CHECK(source.read_at(offset, packed.data(), n));
    offset += n;
    inflater.next_in = packed.as<Bytef>();
    inflater.avail_in = static_cast<uInt>(n);
    return {};
  }

  /// Makes room behind `end` and reads more; false at the end of the text.
  Result<bool> more() {
    if (begin > 0) {
      std::memmove(text.data(), text.as<char>() + begin, static_cast<size_t>(end - begin));
      end -= begin;
      begin = 0;
    }
    if (end > longest) {
      return tl::unexpected(
          corrupt(fmt::format("a line longer than {} bytes; this is not a text file of the expected kind", longest)));
    }
    if (static_cast<int64_t>(text.bytes()) - end < kBlock) {
      PANTILE_TRY(Buffer larger, Buffer::allocate(2 * text.bytes()));
      std::memcpy(larger.data(), text.data(), static_cast<size_t>(end));
      text = std::move(larger);
    }
    PANTILE_TRY(const int64_t n, fill(text.as<char>() + end, kBlock));
    end += n;
    return n > 0;
  }
};

LineReader::LineReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineReader::LineReader(LineReader&&) noexcept = default;
LineReader& LineReader::operator=(LineReader&&) noexcept = default;
LineReader::~LineReader() = default;

Result<LineReader> LineReader::open(const Input& input, int64_t longest) {
  PANTILE_TRY(io::ByteSource source, io::ByteSource::open(input));
  auto state = std::make_unique<State>(std::move(source), longest);
  PANTILE_CHECK(state->start());
  return LineReader(std::move(state));
}

Result<bool> LineReader::next(std::string_view& line) {
  State& s = *state_;
  for (;;) {
    const char* const text = s.text.as<char>();
    const char* const from = text + s.begin + s.scanned;
    const int64_t unseen = s.end - s.begin - s.scanned;
    const char* const stop =
        unseen > 0 ? static_cast<const char*>(std::memchr(from, '\n', static_cast<size_t>(unseen))) : nullptr;
    int64_t length = 0, next_begin = 0;
    if (stop != nullptr) {
      length = stop - (text + s.begin);
      next_begin = s.begin + length + 1;
    } else {
      s.scanned = s.end - s.begin;
      PANTILE_TRY(const bool more, s.more());
      if (more) continue;
      if (s.begin == s.end) return false;
      length = s.end - s.begin;
      next_begin = s.end;
    }
    if (length > s.longest) return tl::unexpected(s.corrupt(fmt::format("a line longer than {} bytes", s.longest)));
    line = {s.text.as<char>() + s.begin, static_cast<size_t>(length)};
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (s.line == 0 && line.substr(0, 3) == "\xef\xbb\xbf")
      line.remove_prefix(3);  // the byte order mark of some spreadsheets
    s.begin = next_begin;
    s.scanned = 0;
    ++s.line;
    return true;
  }
}

int64_t LineReader::line_number() const { return state_->line; }
const std::string& LineReader::name() const { return state_->source.name(); }

int64_t LineReader::most_text_bytes() const {
  const int64_t size = state_->source.size();
  return state_->gzip && size <= (int64_t{1} << 50) ? size * kMostInflation : size;
}

Error LineReader::error(const std::string& message, ErrorCode code) const {
  return {code,
          fmt::format("{}:{}: {}", name(), line_number(), message),
          {{"path", name()}, {"line", std::to_string(line_number())}}};
}

}  // namespace pantile
