#include <fmt/format.h>
#include <pantile/io/safetensors.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "io/byte_source.h"
#include "io/fields.h"

namespace pantile {
namespace {

constexpr int64_t kLongestHeader = 100'000'000;  // the reference implementation's own limit

constexpr std::array<std::pair<std::string_view, DType>, 13> kTypes = {{{"F64", DType::f64},
                                                                        {"F32", DType::f32},
                                                                        {"BF16", DType::bf16},
                                                                        {"F16", DType::f16},
                                                                        {"I64", DType::i64},
                                                                        {"I32", DType::i32},
                                                                        {"I16", DType::i16},
                                                                        {"I8", DType::i8},
                                                                        {"U8", DType::u8},
                                                                        {"U16", DType::u16},
                                                                        {"U32", DType::u32},
                                                                        {"U64", DType::u64},
                                                                        {"BOOL", DType::boolean}}};

std::string_view code_of(DType dtype) {
  return std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.second == dtype; })->first;
}

struct Entry {
  std::string name, dtype;
  std::vector<int64_t> shape, offsets;
  bool has_dtype = false, has_shape = false, has_offsets = false;
};

/// Takes exactly the header's structure from the parser's events, so that a hostile header never becomes a tree in
/// memory:
/// {"name": {"dtype": text, "shape": [n...], "data_offsets": [begin, end]}, "__metadata__": {text: text}}
class HeaderEvents {
 public:
  using json = nlohmann::json;
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  std::string problem;
  ErrorCode code = ErrorCode::corrupt;

  bool start_object(size_t) {
    ++depth_;
    if (depth_ == 1) return true;
    return (depth_ == 2 && !list_) || stop("an object where none belongs");
  }
  bool end_object() {
    if (depth_ == 2 && !in_metadata_) {
      const Entry& e = entries.back();
      if (!e.has_dtype || !e.has_shape || !e.has_offsets)
        return stop(fmt::format("tensor {} lacks dtype, shape or data_offsets", io::quoted(e.name)));
    }
    if (depth_ == 2) in_metadata_ = false;
    --depth_;
    return true;
  }
  bool key(std::string& text) {
    if (depth_ == 1) {
      in_metadata_ = text == "__metadata__";
      if (!in_metadata_) entries.emplace_back().name = text;
      return true;
    }
    key_ = text;
    if (in_metadata_) return true;
    Entry& e = entries.back();
    bool* const flag = text == "dtype"          ? &e.has_dtype
                       : text == "shape"        ? &e.has_shape
                       : text == "data_offsets" ? &e.has_offsets
                                                : nullptr;
    if (flag == nullptr || *flag)
      return stop(fmt::format("tensor {}: unexpected key {}", io::quoted(e.name), io::quoted(text)));
    *flag = true;
    return true;
  }
  bool string(std::string& text) {
    if (depth_ == 2 && !list_ && in_metadata_) {
      return metadata.emplace(key_, text).second || stop(fmt::format("metadata key {} stands twice", io::quoted(key_)));
    }
    if (depth_ != 2 || list_ || key_ != "dtype") return stop("text where none belongs");
    entries.back().dtype = text;
    return true;
  }
  bool start_array(size_t) {
    if (depth_ != 2 || list_ || in_metadata_ || key_ == "dtype") return stop("a list where none belongs");
    list_ = true;
    return true;
  }
  bool end_array() {
    list_ = false;
    return true;
  }
  bool number_unsigned(uint64_t value) {
    if (!list_) return stop("a number where none belongs");
    if (value >= static_cast<uint64_t>(io::kMostId))
      return stop(fmt::format("tensor {}: {} is too large", io::quoted(entries.back().name), value));
    std::vector<int64_t>& to = key_ == "shape" ? entries.back().shape : entries.back().offsets;
    if (to.size() >= 64) return stop(fmt::format("tensor {}: more than 64 extents", io::quoted(entries.back().name)));
    to.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_integer(int64_t) { return stop("a negative number"); }
  bool number_float(double, const std::string&) { return stop("a number that is no integer"); }
  bool null() { return stop("null where it does not belong"); }
  bool boolean(bool) { return stop("a truth value where none belongs"); }
  bool binary(json::binary_t&) { return stop("binary data"); }
  bool parse_error(size_t position, const std::string&, const json::exception&) {
    return stop(fmt::format("not valid JSON at byte {}", position));
  }

 private:
  bool stop(std::string message) {
    if (problem.empty()) problem = std::move(message);
    return false;
  }
  int depth_ = 0;
  bool list_ = false, in_metadata_ = false;
  std::string key_;
};

/// Types, sizes and offsets of all tensors; afterwards they are in the order of their data.
Status check_entries(std::vector<Entry>& entries, int64_t data_bytes, const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].name == entries[i - 1].name)
      return fail(ErrorCode::corrupt, fmt::format("{}: tensor {} stands twice", file, io::quoted(entries[i].name)));
  }
  for (const Entry& e : entries) {
    const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == e.dtype; });
    if (type == kTypes.end())
      return fail(ErrorCode::unsupported, fmt::format("{}: tensor {} has type {}, which is unknown here", file,
                                                      io::quoted(e.name), io::quoted(e.dtype)));
    if (e.offsets.size() != 2)
      return fail(ErrorCode::corrupt,
                  fmt::format("{}: tensor {}: data_offsets must be [begin, end]", file, io::quoted(e.name)));
    int64_t bytes = static_cast<int64_t>(size_of(type->second));
    bool too_large = false;
    for (const int64_t extent : e.shape) too_large = too_large || __builtin_mul_overflow(bytes, extent, &bytes);
    if (too_large || e.offsets[1] > data_bytes || e.offsets[1] - e.offsets[0] != bytes) {
      return fail(ErrorCode::corrupt, fmt::format("{}: tensor {}: bytes [{}, {}) of {} do not hold shape {} of {}",
                                                  file, io::quoted(e.name), e.offsets[0], e.offsets[1], data_bytes,
                                                  shape_text(e.shape), e.dtype));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.offsets[0], a.offsets[1]) < std::pair(b.offsets[0], b.offsets[1]);
  });
  int64_t end = 0;
  for (const Entry& e : entries) {
    if (e.offsets[0] != end) {
      return fail(ErrorCode::corrupt, fmt::format("{}: tensor {} begins at byte {}, where {} ends the data before it; "
                                                  "tensors must neither overlap nor leave holes",
                                                  file, io::quoted(e.name), e.offsets[0], end));
    }
    end = e.offsets[1];
  }
  if (end != data_bytes)
    return fail(ErrorCode::corrupt, fmt::format("{}: the tensors end at byte {} of {}", file, end, data_bytes));
  return {};
}

}  // namespace

Result<SafeTensors> read_safetensors(const Input& input) {
  PANTILE_TRY(const io::ByteSource source, io::ByteSource::open(input));
  unsigned char length_bytes[8] = {};
  if (source.size() < 8)
    return fail(ErrorCode::corrupt,
                fmt::format("{}: {} bytes are too few for a safetensors file", input.name, source.size()));
  PANTILE_CHECK(source.read_at(0, length_bytes, 8));
  const uint64_t length = io::little_endian(length_bytes, 8);
  if (length > static_cast<uint64_t>(std::min(kLongestHeader, source.size() - 8))) {
    return fail(ErrorCode::corrupt, fmt::format("{}: a header of {} bytes; at most {} are possible here", input.name,
                                                length, std::min(kLongestHeader, source.size() - 8)));
  }
  const int64_t data = 8 + static_cast<int64_t>(length);
  std::string header(static_cast<size_t>(length), '\0');
  PANTILE_CHECK(source.read_at(8, header.data(), static_cast<int64_t>(length)));
  HeaderEvents events;
  if (header.empty() || header[0] != '{' || !nlohmann::json::sax_parse(header, &events)) {
    return fail(ErrorCode::corrupt, fmt::format("{}: header: {}", input.name,
                                                events.problem.empty() ? "it must begin with '{'" : events.problem));
  }
  PANTILE_CHECK(check_entries(events.entries, source.size() - data, input.name));
  SafeTensors out;
  out.metadata = std::move(events.metadata);
  for (const Entry& e : events.entries) {
    const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == e.dtype; });
    PANTILE_TRY(Tensor t, Tensor::allocate(type->second, e.shape));
    PANTILE_CHECK(source.read_at(data + e.offsets[0], t.buffer.data(), e.offsets[1] - e.offsets[0]));
    out.tensors.emplace(e.name, std::move(t));
  }
  return out;
}

Status write_safetensors(const std::string& path, const std::map<std::string, TensorView>& tensors,
                         const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const auto& [name, t] : tensors) {
    if (name == "__metadata__") return fail(ErrorCode::invalid_argument, "no tensor may be called '__metadata__'");
    const int64_t end = at + static_cast<int64_t>(t.bytes());
    header[name] = {{"dtype", code_of(t.dtype)}, {"shape", t.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text;
  try {  // text that is not UTF-8 is the only way to fail
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot write '{}': a name or metadata text is not UTF-8", path));
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (static_cast<int64_t>(text.size()) > kLongestHeader)
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot write '{}': its header exceeds {} bytes", path, kLongestHeader));
  PANTILE_TRY(AtomicFile file, AtomicFile::create(path));
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  PANTILE_CHECK(file.write(length));
  PANTILE_CHECK(file.write(text));
  for (const auto& [name, t] : tensors) PANTILE_CHECK(file.write(t.data, t.bytes()));
  return file.commit();
}

}  // namespace pantile
