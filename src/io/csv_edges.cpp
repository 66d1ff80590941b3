#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "io/fields.h"
#include "io/growing_array.h"

namespace pantile {
namespace {

using io::FieldCursor;

/// What a file says about itself before its first edge.
struct Declaration {
  int64_t base = 0, nodes = -1, lines = -1;
  bool undirected = false;
};

/// The number behind `key` ("n=" or "m=") in a comment; -1 when it is not there.
int64_t declared_number(std::string_view comment, std::string_view key) {
  for (size_t at = comment.find(key); at != std::string_view::npos; at = comment.find(key, at + 1)) {
    if (at > 0 && !io::is_blank(comment[at - 1]) && comment[at - 1] != ';') continue;
    int64_t value = 0;
    FieldCursor number(comment.substr(at + key.size()));
    if (number.take_id(value)) return value;
  }
  return -1;
}

/// "# undirected, 0-based; n=115 m=613"
std::optional<Declaration> from_comment(std::string_view line) {
  std::string_view text = io::trimmed(line.substr(1));
  Declaration d;
  if (text.substr(0, 10) == "undirected") {
    d.undirected = true;
  } else if (text.substr(0, 8) != "directed") {
    return std::nullopt;
  }
  const bool zero = text.find("0-based;") != std::string_view::npos,
             one = text.find("1-based;") != std::string_view::npos;
  if (zero == one) return std::nullopt;
  d.base = one ? 1 : 0;
  d.nodes = declared_number(text, "n=");
  d.lines = declared_number(text, "m=");
  return d;
}

/// "26475,53381,u,graph" of the JuliaGraphs collection
std::optional<Declaration> from_julia_header(std::string_view line) {
  FieldCursor at(line);
  Declaration d;
  if (!at.take_id(d.nodes) || !at.take_id(d.lines)) return std::nullopt;
  const std::string_view kind = at.field();
  if (kind != "u" && kind != "d") return std::nullopt;
  d.base = 1;
  d.undirected = kind == "u";
  return d;
}

/// Column names: at least two words of letters, digits and a few signs, the first of them no number.
bool is_header(std::string_view line) {
  FieldCursor at(line);
  int words = 0;
  for (; !at.at_end(); at.skip(), ++words) {
    const std::string_view word = at.field();
    if (word.empty() || word.size() > 64) return false;
    if (words == 0 && (io::is_digit(word[0]) || word[0] == '-' || word[0] == '+' || word[0] == '.')) return false;
    for (const char c : word) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || io::is_digit(c);
      if (!letter && std::string_view("_-.:\"'()[]/").find(c) == std::string_view::npos) return false;
    }
  }
  return words >= 2;
}

int count_fields(std::string_view line) {
  int n = 0;
  for (FieldCursor at(line); !at.at_end(); at.skip()) ++n;
  return n;
}

/// The file from its first edge on, with the options and the declaration merged.
class EdgeLines {
 public:
  EdgeLines(LineReader& reader, const EdgeListOptions& options, const Declaration& declared)
      : reader_(reader),
        base_(options.base >= 0 ? options.base : declared.base),
        nodes_(options.num_nodes >= 0 ? options.num_nodes : declared.nodes),
        both_(options.undirected.value_or(declared.undirected)),
        weight_column_(options.weight_column) {}

  int64_t nodes() const { return nodes_; }
  int64_t lines() const { return lines_; }

  Status add(std::string_view line) {
    if (lines_ == 0) {
      columns_ = count_fields(line);
      if (weight_column_ == EdgeListOptions::kThird) weight_column_ = columns_ == 3 ? 2 : EdgeListOptions::kNoWeights;
    }
    ++lines_;
    FieldCursor at(line);
    int64_t src = 0, dst = 0;
    PANTILE_CHECK(take(at, src));
    PANTILE_CHECK(take(at, dst));
    if (weight_column_ == EdgeListOptions::kNoWeights) {
      if (columns_ == 2 && (!at.at_end() || at.trailing_separator())) return unexpected_column(at, "2 columns");
      PANTILE_CHECK(edges_.add(src, dst));
      return both_ && src != dst ? edges_.add(dst, src) : Status{};
    }
    float weight = 0;
    PANTILE_CHECK(take_weight(at, weight));
    PANTILE_CHECK(edges_.add(src, dst, weight));
    return both_ && src != dst ? edges_.add(dst, src, weight) : Status{};
  }

  Result<EdgeList> finish() { return edges_.finish(nodes_, nodes_); }

 private:
  Status take(FieldCursor& at, int64_t& id) {
    const FieldCursor before = at;
    if (!at.take_id(id) || id < base_) return tl::unexpected(reader_.error(io::bad_id(before, "a node id", base_)));
    id -= base_;
    if (nodes_ < 0 || id < nodes_) return {};
    return tl::unexpected(reader_.error(
        fmt::format("column {}: node id {} is outside [{}, {})", before.column(), id + base_, base_, nodes_ + base_),
        ErrorCode::out_of_range));
  }

  Status take_weight(FieldCursor& at, float& weight) {
    while (at.column() < weight_column_ + 1 && !at.at_end()) at.skip();
    const FieldCursor before = at;
    if (at.at_end()) {
      return tl::unexpected(reader_.error(fmt::format("column {}: the weight is missing; the first line has {} columns",
                                                      weight_column_ + 1, columns_)));
    }
    if (!at.take_number(weight) || !std::isfinite(weight)) {
      return tl::unexpected(reader_.error(fmt::format("column {}: {} is not a weight (a finite float32 number)",
                                                      before.column(), io::quoted(before.field()))));
    }
    if (columns_ == 3 && (!at.at_end() || at.trailing_separator())) return unexpected_column(at, "3 columns");
    return {};
  }

  Status unexpected_column(const FieldCursor& at, const char* expected) const {
    return tl::unexpected(reader_.error(
        fmt::format("column {}: unexpected {}; the first line has {}", at.column(), io::quoted(at.field()), expected)));
  }

  LineReader& reader_;
  const int64_t base_, nodes_;
  const bool both_;
  int weight_column_, columns_ = 0;
  int64_t lines_ = 0;
  io::EdgeCollector edges_;
};

/// The next line that is no comment and not blank; a declaration found on the way goes to `declared`.
Result<bool> next_line(LineReader& reader, std::string_view& line, Declaration* declared) {
  for (;;) {
    PANTILE_TRY(const bool there, reader.next(line));
    if (!there) return false;
    const std::string_view text = io::trimmed(line);
    if (text.empty()) continue;
    if (text[0] != '#' && text[0] != '%') return true;
    if (declared == nullptr) continue;
    if (const auto found = from_comment(text)) *declared = *found;
  }
}

Status check_options(const EdgeListOptions& o) {
  if (o.base < -1 || o.base > 1)
    return fail(ErrorCode::invalid_argument,
                fmt::format("base is {}; 0, 1 or -1 (as the file says) are allowed", o.base));
  if (o.weight_column < EdgeListOptions::kNoWeights || o.weight_column == 0 || o.weight_column == 1 ||
      o.weight_column > 1000) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("weight_column is {}; 2 to 1000, -1 (third) or -2 (none) are allowed", o.weight_column));
  }
  if (o.num_nodes > io::kMostId)
    return fail(ErrorCode::invalid_argument, fmt::format("num_nodes is {}; at most 2^62 is allowed", o.num_nodes));
  return {};
}

}  // namespace

Result<EdgeList> read_csv_edges(const Input& input, const EdgeListOptions& options) {
  PANTILE_CHECK(check_options(options));
  PANTILE_TRY(LineReader reader, LineReader::open(input));
  Declaration declared;
  std::string_view line;
  PANTILE_TRY(bool more, next_line(reader, line, &declared));
  if (more) {
    const auto julia = from_julia_header(line);
    if (julia) declared = *julia;
    if (julia || is_header(line)) {
      PANTILE_TRY(more, next_line(reader, line, nullptr));
    }
  }
  EdgeLines lines(reader, options, declared);
  while (more) {
    PANTILE_CHECK(lines.add(line));
    PANTILE_TRY(more, next_line(reader, line, nullptr));
  }
  if (declared.lines >= 0 && declared.lines != lines.lines()) {
    return tl::unexpected(
        reader.error(fmt::format("the file declares {} edges and holds {}", declared.lines, lines.lines())));
  }
  return lines.finish();
}

}  // namespace pantile
