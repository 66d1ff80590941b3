#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/fields.h"
#include "io/growing_array.h"

namespace pantile {
namespace {

using io::FieldCursor;
constexpr int64_t kLongestLine = int64_t{256} << 20;  // a hub's neighbours stand on one line

struct Header {
  int64_t nodes = 0, edges = 0;
  bool sizes = false, edge_weights = false;
  int64_t node_weights = 0;  ///< per node
  int64_t line = 0;
};

/// The next line that is no comment; blank lines count, for they are nodes without neighbours.
Result<bool> next_line(LineReader& reader, std::string_view& line) {
  for (;;) {
    PANTILE_TRY(const bool there, reader.next(line));
    if (!there) return false;
    if (line.empty() || line[0] != '%') return true;
  }
}

Result<Header> read_header(LineReader& reader) {
  std::string_view line;
  PANTILE_TRY(const bool there, next_line(reader, line));
  if (!there)
    return fail(
        ErrorCode::corrupt,
        fmt::format("{}: the file is empty; its first line must read 'NODES EDGES [FORMAT [WEIGHTS]]'", reader.name()));
  FieldCursor at(line);
  Header h;
  h.line = reader.line_number();
  if (!at.take_id(h.nodes)) return tl::unexpected(reader.error(io::bad_id(at, "the number of nodes", 0)));
  if (!at.take_id(h.edges)) return tl::unexpected(reader.error(io::bad_id(at, "the number of edges", 0)));
  const std::string_view format = at.at_end() ? "0" : at.field();
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos) {
    return tl::unexpected(reader.error(
        fmt::format("column 3: format {} must be up to three digits 0 or 1: vertex sizes, vertex weights, edge weights",
                    io::quoted(format))));
  }
  const auto digit = [&](size_t from_right) {
    return format.size() > from_right && format[format.size() - 1 - from_right] == '1';
  };
  h.edge_weights = digit(0);
  h.node_weights = digit(1) ? 1 : 0;
  h.sizes = digit(2);
  if (!at.at_end()) at.skip();
  if (!at.at_end()) {
    int64_t count = 0;
    if (!at.take_id(count) || count > 1000)
      return tl::unexpected(reader.error(io::bad_id(at, "the number of vertex weights", 0)));
    if (count > 0 && h.node_weights == 0)
      return tl::unexpected(reader.error(
          fmt::format("column 4: {} vertex weights, but format {} says there are none", count, io::quoted(format))));
    h.node_weights = count;
  }
  if (!at.at_end())
    return tl::unexpected(reader.error(fmt::format("column {}: unexpected {}", at.column(), io::quoted(at.field()))));
  // Every node has a line of its own, every edge two entries of at least a digit and a blank.
  if (h.nodes > reader.most_text_bytes() || h.edges > reader.most_text_bytes() / 4 + 1) {
    return tl::unexpected(reader.error(
        fmt::format("{} nodes and {} edges cannot be in a file of this size; it is truncated or its header is wrong",
                    h.nodes, h.edges)));
  }
  return h;
}

/// Rows as they stand in the file; the entries of node i are [starts[i], starts[i + 1]).
struct Rows {
  io::EdgeCollector edges;
  io::GrowingArray<int64_t> starts, lines;
  int64_t loops = 0;
};

Status read_row(LineReader& reader, const Header& h, std::string_view line, int64_t node, Rows& rows) {
  FieldCursor at(line);
  for (int64_t skipped = 0; skipped < h.node_weights + (h.sizes ? 1 : 0); ++skipped) {
    int64_t value = 0;
    if (!at.take_id(value)) return tl::unexpected(reader.error(io::bad_id(at, "a vertex size or weight", 0)));
  }
  while (!at.at_end()) {
    const FieldCursor before = at;
    int64_t neighbour = 0;
    if (!at.take_id(neighbour) || neighbour < 1)
      return tl::unexpected(reader.error(io::bad_id(before, "a node id", 1)));
    if (neighbour > h.nodes) {
      return tl::unexpected(
          reader.error(fmt::format("column {}: node id {} is outside [1, {}]", before.column(), neighbour, h.nodes),
                       ErrorCode::out_of_range));
    }
    --neighbour;
    if (neighbour == node) ++rows.loops;
    if (!h.edge_weights) {
      PANTILE_CHECK(rows.edges.add(neighbour, node));
      continue;
    }
    const FieldCursor weight_at = at;
    float weight = 0;
    if (!at.take_number(weight) || !std::isfinite(weight)) {
      return tl::unexpected(reader.error(fmt::format("column {}: {} is not an edge weight (a finite number)",
                                                     weight_at.column(), io::quoted(weight_at.field()))));
    }
    PANTILE_CHECK(rows.edges.add(neighbour, node, weight));
  }
  return {};
}

/// The order that makes two multisets of a row's entries comparable.
struct Entry {
  int64_t node;
  float weight;
  friend bool operator<(const Entry& a, const Entry& b) {
    return a.node != b.node ? a.node < b.node : a.weight < b.weight;
  }
};

/// Every entry (i, j, w) must have its (j, i, w): the rows in sorted order against their transposition, O(E log of the
/// largest row).
Status check_symmetric(const std::string& name, const EdgeList& edges, const Array<int64_t>& starts,
                       const Array<int64_t>& lines) {
  const int64_t nodes = starts.size() - 1, count = edges.edges();
  PANTILE_TRY(auto sorted, Array<Entry>::allocate(count));
  PANTILE_TRY(auto transposed, Array<Entry>::allocate(count));
  PANTILE_TRY(auto next, Array<int64_t>::allocate(nodes + 1));
  std::fill(next.begin(), next.end(), 0);
  for (int64_t k = 0; k < count; ++k) {
    sorted[k] = {edges.src[k], edges.weights.empty() ? 1.0f : edges.weights[k]};
    ++next[edges.src[k] + 1];
  }
  for (int64_t i = 0; i < nodes; ++i) {
    std::sort(sorted.data() + starts[i], sorted.data() + starts[i + 1]);
    next[i + 1] += next[i];
  }
  for (int64_t i = 0; i < nodes; ++i) {
    const int64_t listed = starts[i + 1] - starts[i], listing = next[i + 1] - next[i];
    if (listed != listing) {
      return fail(
          ErrorCode::corrupt,
          fmt::format("{}:{}: node {} lists {} neighbours, but {} nodes list it; every edge must stand at both ends",
                      name, lines[i], i + 1, listed, listing));
    }
  }
  for (int64_t i = 0; i < nodes; ++i) {
    for (int64_t k = starts[i]; k < starts[i + 1]; ++k) transposed[next[sorted[k].node]++] = {i, sorted[k].weight};
  }
  for (int64_t i = 0; i < nodes; ++i) {
    for (int64_t k = starts[i]; k < starts[i + 1]; ++k) {
      if (!(sorted[k] < transposed[k]) && !(transposed[k] < sorted[k])) continue;
      const int64_t other = std::min(sorted[k].node, transposed[k].node);
      const bool weights = sorted[k].node == transposed[k].node;
      return fail(
          ErrorCode::corrupt,
          weights
              ? fmt::format("{}:{}: nodes {} and {} give their edge different weights", name, lines[i], i + 1,
                            other + 1)
              : fmt::format("{}:{}: only one of nodes {} and {} lists the other; every edge must stand at both ends",
                            name, lines[i], i + 1, other + 1));
    }
  }
  return {};
}

}  // namespace

Result<EdgeList> read_metis(const Input& input) {
  PANTILE_TRY(LineReader reader, LineReader::open(input, kLongestLine));
  PANTILE_TRY(const Header h, read_header(reader));
  Rows rows;
  std::string_view line;
  for (int64_t node = 0; node < h.nodes; ++node) {
    PANTILE_TRY(const bool there, next_line(reader, line));
    if (!there) {
      return tl::unexpected(
          reader.error(fmt::format("the file ends after {} of {} nodes; it is truncated", node, h.nodes)));
    }
    PANTILE_CHECK(rows.starts.push(rows.edges.edges()));
    PANTILE_CHECK(rows.lines.push(reader.line_number()));
    PANTILE_CHECK(read_row(reader, h, line, node, rows));
  }
  PANTILE_CHECK(rows.starts.push(rows.edges.edges()));
  for (;;) {
    PANTILE_TRY(const bool there, next_line(reader, line));
    if (!there) break;
    if (!io::trimmed(line).empty())
      return tl::unexpected(reader.error(fmt::format("a line after the last of {} nodes", h.nodes)));
  }
  // A self-loop, which METIS itself does not take but some files hold, stands once.
  const int64_t entries = rows.edges.edges();
  if (entries != 2 * h.edges && entries + rows.loops != 2 * h.edges) {
    return fail(ErrorCode::corrupt,
                fmt::format("{}:{}: the header declares {} edges, which makes {} entries, but there are {}",
                            reader.name(), h.line, h.edges, 2 * h.edges, entries));
  }
  PANTILE_TRY(EdgeList edges, rows.edges.finish(h.nodes, h.nodes));
  PANTILE_TRY(const auto starts, rows.starts.join());
  PANTILE_TRY(const auto lines, rows.lines.join());
  PANTILE_CHECK(check_symmetric(reader.name(), edges, starts, lines));
  return edges;
}

}  // namespace pantile
