#include "io/npy_stream.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "io/fields.h"

namespace pantile::io {
namespace {

constexpr int64_t kLongestHeader = 1 << 20;
constexpr size_t kMostDimensions = 64;
constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr std::array<TypeCode, 12> kTypes = {{{"f8", DType::f64},
                                              {"f4", DType::f32},
                                              {"f2", DType::f16},
                                              {"i8", DType::i64},
                                              {"i4", DType::i32},
                                              {"i2", DType::i16},
                                              {"i1", DType::i8},
                                              {"u1", DType::u8},
                                              {"u2", DType::u16},
                                              {"u4", DType::u32},
                                              {"u8", DType::u64},
                                              {"b1", DType::boolean}}};

tl::unexpected<Error> broken(const std::string& where, const std::string& message) {
  return fail(ErrorCode::corrupt, fmt::format("{}: {}", where, message));
}

/// The header is a Python dictionary; this takes the few literals that NumPy writes there and nothing else.
class Literal {
 public:
  Literal(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Result<NpyHeader> parse() {
    NpyHeader h;
    bool descr = false, order = false, shape = false;
    PANTILE_CHECK(expect('{'));
    while (!at('}')) {
      PANTILE_TRY(const std::string key, string());
      PANTILE_CHECK(expect(':'));
      if (key == "descr" && !descr) {
        descr = true;
        if (at('[') || at('('))
          return fail(ErrorCode::unsupported,
                      fmt::format("{}: structured arrays are not read; save each field on its own", where_));
        PANTILE_TRY(const std::string code, string());
        PANTILE_CHECK(set_type(code, h));
      } else if (key == "fortran_order" && !order) {
        order = true;
        PANTILE_TRY(h.fortran_order, boolean());
      } else if (key == "shape" && !shape) {
        shape = true;
        PANTILE_TRY(h.shape, tuple());
      } else {
        return broken(where_, fmt::format("unexpected key {} in the npy header", quoted(key)));
      }
      if (!at('}')) PANTILE_CHECK(expect(','));
    }
    ++position_;
    skip_space();
    if (position_ != text_.size()) return broken(where_, "text behind the npy header's dictionary");
    if (!descr || !order || !shape) return broken(where_, "the npy header must give descr, fortran_order and shape");
    return h;
  }

 private:
  Status set_type(const std::string& code, NpyHeader& h) {
    const char order = code.empty() ? '?' : code[0];
    const std::string_view type = code.empty() ? std::string_view() : std::string_view(code).substr(1);
    if (type == "O")
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: the array holds pickled Python objects, which are never read; save numbers instead",
                              where_));
    if (order != '<' && order != '>' && order != '|' && order != '=')
      return broken(where_, fmt::format("unknown type {}", quoted(code)));
    h.swapped = order == '>';
    for (const TypeCode& t : kTypes) {
      if (t.code == type) h.dtype = t.dtype;
    }
    if (h.dtype) return {};
    FieldCursor number(type.substr(std::min<size_t>(1, type.size())));
    const bool text = !type.empty() && (type[0] == 'S' || type[0] == 'U') && number.take_id(h.text_bytes) &&
                      h.text_bytes < (int64_t{1} << 31);
    if (!text) {
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: type {} is not read; bool, integers up to 64 bits and float16, 32, 64 are", where_,
                              quoted(code)));
    }
    h.wide_text = type[0] == 'U';
    if (h.wide_text) h.text_bytes *= 4;
    return {};
  }

  void skip_space() {
    while (position_ < text_.size() && (is_blank(text_[position_]) || text_[position_] == '\n')) ++position_;
  }
  bool at(char c) {
    skip_space();
    return position_ < text_.size() && text_[position_] == c;
  }
  Status expect(char c) {
    if (!at(c))
      return broken(where_, fmt::format("the npy header has {} at byte {} where '{}' belongs",
                                        quoted(text_.substr(std::min(position_, text_.size()), 1)), position_, c));
    ++position_;
    return {};
  }
  Result<std::string> string() {
    const char quote = at('"') ? '"' : '\'';
    PANTILE_CHECK(expect(quote));
    const size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) return broken(where_, "a string without end in the npy header");
    std::string s(text_.substr(position_, end - position_));
    position_ = end + 1;
    return s;
  }
  Result<bool> boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(position_, word.size()) != word) continue;
      position_ += word.size();
      return value;
    }
    return broken(where_, "fortran_order must be True or False");
  }
  Result<std::vector<int64_t>> tuple() {
    std::vector<int64_t> extents;
    PANTILE_CHECK(expect('('));
    while (!at(')')) {
      const size_t begin = position_;
      while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
      int64_t extent = 0;
      FieldCursor number(text_.substr(begin, position_ - begin));
      if (!number.take_id(extent))
        return broken(where_, fmt::format("the shape holds {}, which is not an extent (an integer from 0 to 2^62 - 1)",
                                          quoted(text_.substr(begin, 20))));
      if (at('L')) ++position_;  // Python 2 wrote long integers so
      extents.push_back(extent);
      if (extents.size() > kMostDimensions)
        return broken(where_, fmt::format("more than {} dimensions", kMostDimensions));
      if (!at(')')) PANTILE_CHECK(expect(','));
    }
    ++position_;
    return extents;
  }

  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
};

void swap_bytes(Tensor& t) {
  const size_t width = size_of(t.dtype);
  char* const data = t.as<char>();
  for (size_t at = 0; width > 1 && at < t.buffer.bytes(); at += width) std::reverse(data + at, data + at + width);
}

/// Column-major elements into row-major order: an odometer over the target with the source's strides.
Result<Tensor> to_c_order(const Tensor& from) {
  PANTILE_TRY(Tensor to, Tensor::allocate(from.dtype, from.shape));
  const size_t dims = from.shape.size(), width = size_of(from.dtype);
  std::vector<int64_t> stride(dims, 1), index(dims, 0);
  for (size_t d = 1; d < dims; ++d) stride[d] = stride[d - 1] * from.shape[d - 1];
  int64_t source = 0;
  for (int64_t i = 0, n = to.size(); i < n; ++i) {
    std::memcpy(to.as<char>() + static_cast<size_t>(i) * width, from.as<char>() + static_cast<size_t>(source) * width,
                width);
    for (size_t d = dims; d-- > 0;) {
      source += stride[d];
      if (++index[d] < from.shape[d]) break;
      source -= stride[d] * from.shape[d];
      index[d] = 0;
    }
  }
  return to;
}

}  // namespace

Result<NpyHeader> read_npy_header(ByteStream& stream, const std::string& where) {
  unsigned char start[12] = {};
  if (stream.remaining() < 10)
    return broken(where, fmt::format("{} bytes are too few for an npy array", stream.remaining()));
  PANTILE_CHECK(stream.read(start, 8));
  if (std::string_view(reinterpret_cast<char*>(start), 6) != kMagic)
    return broken(where, "not an npy array: it must begin with \\x93NUMPY");
  const int version = start[6], length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3)
    return fail(ErrorCode::unsupported, fmt::format("{}: npy version {} is unknown; 1 to 3 are read", where, version));
  PANTILE_CHECK(stream.read(start + 8, length_bytes));
  const int64_t length = static_cast<int64_t>(little_endian(start + 8, length_bytes));
  if (length > kLongestHeader || length > stream.remaining()) {
    return broken(where, fmt::format("an npy header of {} bytes, but {} bytes follow and at most {} are allowed",
                                     length, stream.remaining(), kLongestHeader));
  }
  std::string text(static_cast<size_t>(length), '\0');
  PANTILE_CHECK(stream.read(text.data(), length));
  return Literal(text, where).parse();
}

Result<Tensor> read_npy_elements(ByteStream& stream, const NpyHeader& header, const std::string& where) {
  if (!header.dtype)
    return fail(ErrorCode::unsupported, fmt::format("{}: the array holds text; numbers are read", where));
  int64_t bytes = static_cast<int64_t>(size_of(*header.dtype));
  bool too_large = false;
  for (const int64_t extent : header.shape)
    too_large = too_large || __builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes);
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end()) bytes = 0;
  // Compared before anything is allocated: a header of a few bytes may declare any size.
  if (too_large || bytes != stream.remaining()) {
    return broken(where, fmt::format("shape {} of {} needs {} bytes, but {} follow the header",
                                     shape_text(header.shape), name(*header.dtype),
                                     too_large ? "more than 2^63" : std::to_string(bytes), stream.remaining()));
  }
  PANTILE_TRY(Tensor t, Tensor::allocate(*header.dtype, header.shape));
  PANTILE_CHECK(stream.read(t.buffer.data(), bytes).map_error([&](Error e) { return e.within(where); }));
  if (header.swapped) swap_bytes(t);
  if (t.dtype == DType::boolean)
    std::transform(t.as<uint8_t>(), t.as<uint8_t>() + t.size(), t.as<uint8_t>(),
                   [](uint8_t b) -> uint8_t { return b != 0; });
  if (header.fortran_order && header.shape.size() > 1 && bytes > 0) return to_c_order(t);
  return t;
}

Result<std::string> read_npy_text(ByteStream& stream, const NpyHeader& header, const std::string& where) {
  if (header.dtype || !header.shape.empty() || header.text_bytes > 1024 || header.text_bytes != stream.remaining()) {
    return broken(where, "a single word of text is expected here");
  }
  std::string bytes(static_cast<size_t>(header.text_bytes), '\0'), text;
  PANTILE_CHECK(stream.read(bytes.data(), header.text_bytes));
  for (const char c : bytes) {
    if (c != '\0') text += c;  // ASCII words: the zeros of wide characters and of padding drop out
  }
  return text;
}

Result<std::string> npy_header_bytes(DType dtype, const std::vector<int64_t>& shape) {
  const auto code = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeCode& t) { return t.dtype == dtype; });
  if (code == kTypes.end()) {
    return fail(ErrorCode::unsupported,
                fmt::format("NumPy has no type for {}; convert to float32 or write safetensors", name(dtype)));
  }
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", size_of(dtype) == 1 ? '|' : '<',
                  code->code, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const bool short_header = text.size() + 64 <= 65535;
  const size_t start = short_header ? 10 : 12;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes(kMagic);
  bytes += short_header ? '\1' : '\2';
  bytes += '\0';
  for (size_t i = 0; i < start - 8; ++i) bytes += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  return bytes + text;
}

}  // namespace pantile::io
