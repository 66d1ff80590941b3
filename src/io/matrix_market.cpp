#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/fields.h"
#include "io/growing_array.h"

namespace pantile {
namespace {

using io::FieldCursor;

enum class Symmetry { general, symmetric, skew };

struct Banner {
  bool pattern = false;
  Symmetry symmetry = Symmetry::general;
};

/// The first words of a line in lower case.
std::vector<std::string> lower_words(std::string_view line) {
  std::vector<std::string> words;
  for (size_t at = 0; at < line.size() && words.size() < 6;) {
    while (at < line.size() && io::is_blank(line[at])) ++at;
    const size_t begin = at;
    while (at < line.size() && !io::is_blank(line[at])) ++at;
    if (at > begin) words.emplace_back(line.substr(begin, std::min<size_t>(at - begin, 64)));
  }
  for (std::string& w : words)
    std::transform(w.begin(), w.end(), w.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return words;
}

/// "%%MatrixMarket matrix coordinate pattern symmetric"
Result<Banner> read_banner(LineReader& reader) {
  std::string_view line;
  PANTILE_TRY(const bool there, reader.next(line));
  const std::vector<std::string> words = there ? lower_words(line) : std::vector<std::string>();
  if (words.empty() || words[0] != "%%matrixmarket") {
    return fail(ErrorCode::corrupt,
                fmt::format("{}:1: not a MatrixMarket file: it must begin with '%%MatrixMarket'", reader.name()));
  }
  if (words.size() != 5 || words[1] != "matrix") {
    return tl::unexpected(reader.error("the banner must read '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"));
  }
  if (words[2] != "coordinate") {
    return tl::unexpected(reader.error(fmt::format("format {} is not read; only 'coordinate' is", io::quoted(words[2])),
                                       ErrorCode::unsupported));
  }
  Banner banner;
  banner.pattern = words[3] == "pattern";
  if (words[3] == "complex" || words[4] == "hermitian") {
    return tl::unexpected(
        reader.error("complex matrices have no meaning as edge weights; write the real part or the modulus",
                     ErrorCode::unsupported));
  }
  if (!banner.pattern && words[3] != "real" && words[3] != "double" && words[3] != "integer") {
    return tl::unexpected(
        reader.error(fmt::format("field {} is unknown; pattern, real and integer are read", io::quoted(words[3]))));
  }
  if (words[4] == "symmetric") {
    banner.symmetry = Symmetry::symmetric;
  } else if (words[4] == "skew-symmetric") {
    banner.symmetry = Symmetry::skew;
  } else if (words[4] != "general") {
    return tl::unexpected(reader.error(
        fmt::format("symmetry {} is unknown; general, symmetric and skew-symmetric are read", io::quoted(words[4]))));
  }
  if (banner.pattern && banner.symmetry == Symmetry::skew)
    return tl::unexpected(reader.error("a pattern has no signs: it cannot be skew-symmetric"));
  return banner;
}

/// The next line with content.
Result<bool> next_line(LineReader& reader, std::string_view& line) {
  for (;;) {
    PANTILE_TRY(const bool there, reader.next(line));
    if (!there) return false;
    const std::string_view text = io::trimmed(line);
    if (!text.empty() && text[0] != '%') return true;
  }
}

class Entries {
 public:
  Entries(LineReader& reader, const Banner& banner) : reader_(reader), banner_(banner) {}

  Status read_sizes() {
    std::string_view line;
    PANTILE_TRY(const bool there, next_line(reader_, line));
    if (!there) return tl::unexpected(reader_.error("the file ends before the line 'ROWS COLUMNS ENTRIES'"));
    FieldCursor at(line);
    for (int64_t* const size : {&rows_, &cols_, &declared_}) {
      if (!at.take_id(*size)) return tl::unexpected(reader_.error(io::bad_id(at, "a size", 0)));
    }
    if (!at.at_end())
      return tl::unexpected(reader_.error("the size line must hold three numbers: ROWS COLUMNS ENTRIES"));
    if (banner_.symmetry != Symmetry::general && rows_ != cols_) {
      return tl::unexpected(
          reader_.error(fmt::format("a symmetric matrix must be square; it is {} x {}", rows_, cols_)));
    }
    constexpr int64_t kShortestEntry = 4;  // "1 1" and a line end
    if (declared_ > reader_.most_text_bytes() / kShortestEntry + 1) {
      return tl::unexpected(reader_.error(fmt::format(
          "{} entries cannot be in a file of this size; it is truncated or its header is wrong", declared_)));
    }
    return {};
  }

  Status read_entries() {
    std::string_view line;
    for (;;) {
      PANTILE_TRY(const bool there, next_line(reader_, line));
      if (!there) break;
      if (seen_ == declared_)
        return tl::unexpected(
            reader_.error(fmt::format("more entries than the {} that the header declares", declared_)));
      ++seen_;
      PANTILE_CHECK(add(line));
    }
    if (seen_ == declared_) return {};
    return tl::unexpected(
        reader_.error(fmt::format("the file ends after {} of {} entries; it is truncated", seen_, declared_)));
  }

  Result<EdgeList> finish() { return edges_.finish(cols_, rows_); }

 private:
  Status add(std::string_view line) {
    FieldCursor at(line);
    int64_t row = 0, col = 0;
    PANTILE_CHECK(take(at, row, rows_, "a row"));
    PANTILE_CHECK(take(at, col, cols_, "a column"));
    float weight = 0;
    if (!banner_.pattern) {
      const FieldCursor before = at;
      if (!at.take_number(weight) || !std::isfinite(weight)) {
        return tl::unexpected(reader_.error(
            fmt::format("column 3: {} is not a value (a finite float32 number)", io::quoted(before.field()))));
      }
    }
    if (!at.at_end())
      return tl::unexpected(
          reader_.error(fmt::format("column {}: unexpected {}", at.column(), io::quoted(at.field()))));
    PANTILE_CHECK(emit(col, row, weight));
    if (banner_.symmetry == Symmetry::general) return {};
    if (row == col) {
      if (banner_.symmetry == Symmetry::skew && weight != 0)
        return tl::unexpected(reader_.error("the diagonal of a skew-symmetric matrix must be zero"));
      return {};
    }
    // Symmetric files hold one triangle; with both, every edge would silently count twice.
    (row > col ? lower_ : upper_) = true;
    if (lower_ && upper_)
      return tl::unexpected(
          reader_.error("a symmetric file must hold one triangle only; this entry is of the other one"));
    return emit(row, col, banner_.symmetry == Symmetry::skew ? -weight : weight);
  }

  Status emit(int64_t src, int64_t dst, float weight) {
    return banner_.pattern ? edges_.add(src, dst) : edges_.add(src, dst, weight);
  }

  Status take(FieldCursor& at, int64_t& index, int64_t count, const char* what) {
    const FieldCursor before = at;
    if (!at.take_id(index) || index < 1) return tl::unexpected(reader_.error(io::bad_id(before, what, 1)));
    if (index > count) {
      return tl::unexpected(reader_.error(
          fmt::format("column {}: {} is outside [1, {}], the range of {}", before.column(), index, count, what),
          ErrorCode::out_of_range));
    }
    --index;
    return {};
  }

  LineReader& reader_;
  const Banner banner_;
  int64_t rows_ = 0, cols_ = 0, declared_ = 0, seen_ = 0;
  bool lower_ = false, upper_ = false;
  io::EdgeCollector edges_;
};

}  // namespace

Result<EdgeList> read_matrix_market(const Input& input) {
  PANTILE_TRY(LineReader reader, LineReader::open(input));
  PANTILE_TRY(const Banner banner, read_banner(reader));
  Entries entries(reader, banner);
  PANTILE_CHECK(entries.read_sizes());
  PANTILE_CHECK(entries.read_entries());
  return entries.finish();
}

}  // namespace pantile
