#include "io/zip_reader.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "io/fields.h"

namespace pantile::io {
namespace {

// Signatures and sizes of the fixed parts (APPNOTE.TXT 4.3).
constexpr uint64_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr int64_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr int64_t kLongestComment = 65535;
constexpr int64_t kMostDirectory = int64_t{256} << 20;
constexpr uint64_t kIn64 = 0xffffffff;  // the value stands in the zip64 record
constexpr int64_t kMostInflation = 1032;

struct Directory {
  int64_t entries = 0, offset = 0, bytes = 0, end = 0;  ///< end: offset of the record that closes it
};

tl::unexpected<Error> broken(const ByteSource& source, const std::string& message) {
  return fail(ErrorCode::corrupt, fmt::format("{}: {}", source.name(), message));
}

Result<Directory> find_directory(const ByteSource& source) {
  const int64_t tail = std::min(source.size(), kEndBytes + kLongestComment);
  std::vector<unsigned char> bytes(static_cast<size_t>(tail));
  PANTILE_CHECK(source.read_at(source.size() - tail, bytes.data(), tail));
  for (int64_t at = tail - kEndBytes; at >= 0; --at) {
    const unsigned char* const p = bytes.data() + at;
    if (little_endian(p, 4) != kEnd || at + kEndBytes + static_cast<int64_t>(little_endian(p + 20, 2)) != tail)
      continue;
    Directory d;
    d.end = source.size() - tail + at;
    const uint64_t entries = little_endian(p + 10, 2), size = little_endian(p + 12, 4),
                   offset = little_endian(p + 16, 4);
    d.entries = static_cast<int64_t>(entries);
    d.bytes = static_cast<int64_t>(size);
    d.offset = static_cast<int64_t>(offset);
    if (entries != 0xffff && size != kIn64 && offset != kIn64) return d;
    if (d.end < kLocator64Bytes) return d;
    unsigned char locator[kLocator64Bytes], record[kEnd64Bytes];
    PANTILE_CHECK(source.read_at(d.end - kLocator64Bytes, locator, kLocator64Bytes));
    if (little_endian(locator, 4) != kLocator64) return d;
    const uint64_t record_offset = little_endian(locator + 8, 8);
    if (record_offset > static_cast<uint64_t>(d.end)) return broken(source, "the zip64 record lies outside the file");
    PANTILE_CHECK(source.read_at(static_cast<int64_t>(record_offset), record, kEnd64Bytes));
    if (little_endian(record, 4) != kEnd64) return broken(source, "the zip64 record is not where the archive says");
    d.end = static_cast<int64_t>(record_offset);
    d.entries = static_cast<int64_t>(little_endian(record + 32, 8));
    d.bytes = static_cast<int64_t>(little_endian(record + 40, 8));
    d.offset = static_cast<int64_t>(little_endian(record + 48, 8));
    return d;
  }
  return broken(source, "not a zip archive, or a truncated one: its end record is missing");
}

/// Sizes and offset that did not fit 32 bits, in this order, from the extra field with id 1.
Status apply_zip64(const ByteSource& source, const unsigned char* extra, int64_t bytes, ZipEntry& e,
                   const uint64_t (&plain)[3]) {
  int64_t* const values[3] = {&e.unpacked, &e.packed, &e.header_offset};
  for (int i = 0; i < 3; ++i) *values[i] = static_cast<int64_t>(plain[i]);
  for (int64_t at = 0; at + 4 <= bytes;) {
    const uint64_t id = little_endian(extra + at, 2);
    const int64_t size = static_cast<int64_t>(little_endian(extra + at + 2, 2));
    if (size > bytes - at - 4) return broken(source, fmt::format("entry {}: broken extra field", quoted(e.name)));
    if (id == 1) {
      int64_t used = 0;
      for (int i = 0; i < 3; ++i) {
        if (plain[i] != kIn64) continue;
        if (used + 8 > size)
          return broken(source, fmt::format("entry {}: its zip64 sizes are missing", quoted(e.name)));
        *values[i] = static_cast<int64_t>(little_endian(extra + at + 4 + used, 8));
        used += 8;
      }
    }
    at += 4 + size;
  }
  return {};
}

/// Reads the entry at `p` of the central directory; gives its length there.
Result<int64_t> parse_central(const ByteSource& source, const unsigned char* p, int64_t left, ZipEntry& e) {
  if (left < kCentralBytes || little_endian(p, 4) != kCentral)
    return broken(source, "the archive's directory is broken");
  const uint64_t flags = little_endian(p + 8, 2), method = little_endian(p + 10, 2);
  const int64_t name = static_cast<int64_t>(little_endian(p + 28, 2)),
                extra = static_cast<int64_t>(little_endian(p + 30, 2));
  const int64_t comment = static_cast<int64_t>(little_endian(p + 32, 2)),
                length = kCentralBytes + name + extra + comment;
  if (length > left) return broken(source, "the archive's directory is broken");
  e.name.assign(reinterpret_cast<const char*>(p) + kCentralBytes, static_cast<size_t>(name));
  if ((flags & 1) != 0)
    return fail(ErrorCode::unsupported, fmt::format("{}: entry {} is encrypted", source.name(), quoted(e.name)));
  if (method != 0 && method != 8) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: entry {} uses compression method {}; stored (0) and deflated (8) are read",
                            source.name(), quoted(e.name), method));
  }
  e.deflated = method == 8;
  e.crc = static_cast<uint32_t>(little_endian(p + 16, 4));
  const uint64_t plain[3] = {little_endian(p + 24, 4), little_endian(p + 20, 4), little_endian(p + 42, 4)};
  PANTILE_CHECK(apply_zip64(source, p + kCentralBytes + name, extra, e, plain));
  const bool inside = e.unpacked >= 0 && e.packed >= 0 && e.header_offset >= 0 && e.packed <= source.size() &&
                      e.header_offset <= source.size();
  const bool plausible = inside && (e.deflated ? e.unpacked <= e.packed * kMostInflation + 64 : e.unpacked == e.packed);
  if (!plausible) {
    return broken(source, fmt::format("entry {}: {} packed and {} unpacked bytes at offset {} are impossible here",
                                      quoted(e.name), e.packed, e.unpacked, e.header_offset));
  }
  return length;
}

/// Where the entry's data begins; the local header must name the same file and method.
Status locate(const ByteSource& source, const Directory& d, ZipEntry& e) {
  unsigned char local[kLocalBytes];
  PANTILE_CHECK(source.read_at(e.header_offset, local, kLocalBytes));
  const int64_t name = static_cast<int64_t>(little_endian(local + 26, 2)),
                extra = static_cast<int64_t>(little_endian(local + 28, 2));
  const bool same = little_endian(local, 4) == kLocal && little_endian(local + 8, 2) == (e.deflated ? 8u : 0u) &&
                    name == static_cast<int64_t>(e.name.size());
  std::string local_name(static_cast<size_t>(same ? name : 0), '\0');
  if (same) PANTILE_CHECK(source.read_at(e.header_offset + kLocalBytes, local_name.data(), name));
  if (!same || local_name != e.name)
    return broken(source, fmt::format("entry {}: its local header disagrees with the directory", quoted(e.name)));
  e.data_offset = e.header_offset + kLocalBytes + name + extra;
  if (e.data_offset > d.offset || e.packed > d.offset - e.data_offset) {
    return broken(source,
                  fmt::format("entry {}: its {} bytes reach into the archive's directory", quoted(e.name), e.packed));
  }
  return {};
}

/// Inflates (or passes through) an entry and checks its length and checksum at the end.
class EntryStream final : public ByteStream {
 public:
  EntryStream(const ByteSource& source, const ZipEntry& entry)
      : source_(source), entry_(entry), left_(entry.unpacked), at_(entry.data_offset) {}
  EntryStream(const EntryStream&) = delete;
  EntryStream& operator=(const EntryStream&) = delete;
  ~EntryStream() override {
    if (started_) inflateEnd(&z_);
  }

  Status start() {
    if (!entry_.deflated) return {};
    PANTILE_TRY(packed_, Buffer::allocate(kBlock));
    if (inflateInit2(&z_, -15) != Z_OK) return fail(ErrorCode::out_of_memory, "cannot start zlib");
    started_ = true;
    return {};
  }

  int64_t remaining() const override { return left_; }

  Status read(void* to, int64_t bytes) override {
    if (bytes > left_)
      return broken(source_,
                    fmt::format("entry {}: {} bytes are needed, but {} are left", quoted(entry_.name), bytes, left_));
    char* out = static_cast<char*>(to);
    for (int64_t done = 0; done < bytes;) {
      const int64_t n = std::min(bytes - done, int64_t{1} << 24);
      PANTILE_CHECK(entry_.deflated ? inflate_exactly(out + done, n) : source_.read_at(at_, out + done, n));
      if (!entry_.deflated) at_ += n;
      crc_ = static_cast<uint32_t>(crc32(crc_, reinterpret_cast<const Bytef*>(out + done), static_cast<uInt>(n)));
      done += n;
    }
    left_ -= bytes;
    return left_ == 0 ? finish() : Status{};
  }

 private:
  static constexpr int64_t kBlock = 256 << 10;

  Status inflate_exactly(char* to, int64_t bytes) {
    z_.next_out = reinterpret_cast<Bytef*>(to);
    z_.avail_out = static_cast<uInt>(bytes);
    while (z_.avail_out > 0) {
      PANTILE_CHECK(refill());
      const int code = inflate(&z_, Z_NO_FLUSH);
      ended_ = code == Z_STREAM_END;
      // A stream may end only with the last byte asked for: asking an ended one for more would go on for ever.
      if ((code != Z_OK && !ended_) || (ended_ && z_.avail_out > 0)) {
        return broken(source_, fmt::format("entry {}: broken or truncated compressed data", quoted(entry_.name)));
      }
    }
    return {};
  }

  Status refill() {
    const int64_t n = std::min(kBlock, entry_.data_offset + entry_.packed - at_);
    if (z_.avail_in > 0 || n == 0) return {};
    PANTILE_CHECK(source_.read_at(at_, packed_.data(), n));
    at_ += n;
    z_.next_in = packed_.as<Bytef>();
    z_.avail_in = static_cast<uInt>(n);
    return {};
  }

  Status finish() {
    if (crc_ != entry_.crc) {
      return broken(source_, fmt::format("entry {}: checksum {:08x} instead of {:08x}; the file is damaged",
                                         quoted(entry_.name), crc_, entry_.crc));
    }
    if (!entry_.deflated || ended_) return {};
    // The data must end where the directory says: one more byte of output means that its size is a lie.
    Bytef extra = 0;
    z_.next_out = &extra;
    z_.avail_out = 1;
    PANTILE_CHECK(refill());
    const int code = inflate(&z_, Z_NO_FLUSH);
    if (code != Z_STREAM_END || z_.avail_out == 0)
      return broken(
          source_, fmt::format("entry {}: more data than the {} bytes declared", quoted(entry_.name), entry_.unpacked));
    return {};
  }

  const ByteSource& source_;
  const ZipEntry entry_;
  int64_t left_, at_;
  uint32_t crc_ = 0;
  bool started_ = false, ended_ = false;
  z_stream z_ = {};
  Buffer packed_;
};

}  // namespace

Result<std::vector<ZipEntry>> read_zip_directory(const ByteSource& source) {
  PANTILE_TRY(const Directory d, find_directory(source));
  if (d.offset < 0 || d.bytes < 0 || d.offset > d.end || d.bytes > d.end - d.offset || d.bytes > kMostDirectory) {
    return broken(source, fmt::format("the archive's directory of {} bytes at offset {} does not fit the file", d.bytes,
                                      d.offset));
  }
  if (d.entries < 0 || d.entries > d.bytes / kCentralBytes) {
    return broken(source, fmt::format("{} entries cannot be in a directory of {} bytes", d.entries, d.bytes));
  }
  PANTILE_TRY(Buffer bytes, Buffer::allocate(static_cast<size_t>(d.bytes)));
  PANTILE_CHECK(source.read_at(d.offset, bytes.data(), d.bytes));
  std::vector<ZipEntry> entries(static_cast<size_t>(d.entries));
  std::set<std::string> names;
  int64_t at = 0;
  for (ZipEntry& e : entries) {
    PANTILE_TRY(const int64_t length, parse_central(source, bytes.as<unsigned char>() + at, d.bytes - at, e));
    at += length;
    if (!names.insert(e.name).second)
      return broken(source, fmt::format("entry {} stands twice in the archive", quoted(e.name)));
    PANTILE_CHECK(locate(source, d, e));
  }
  std::vector<const ZipEntry*> by_offset;
  for (const ZipEntry& e : entries) by_offset.push_back(&e);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->header_offset < b->header_offset; });
  for (size_t i = 1; i < by_offset.size(); ++i) {
    const ZipEntry &a = *by_offset[i - 1], &b = *by_offset[i];
    if (b.header_offset < a.data_offset + a.packed)
      return broken(source, fmt::format("entries {} and {} overlap", quoted(a.name), quoted(b.name)));
  }
  return entries;
}

Result<std::unique_ptr<ByteStream>> open_zip_entry(const ByteSource& source, const ZipEntry& entry) {
  auto stream = std::make_unique<EntryStream>(source, entry);
  PANTILE_CHECK(stream->start());
  return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace pantile::io
