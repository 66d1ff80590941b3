#include "cli/graph_facts.h"

#include <fmt/format.h>

#include "cli/console.h"

namespace pantile::cli {

Value to_value(const GraphProfile& p) {
  return Value::object()
      .set("rows", p.rows)
      .set("cols", p.cols)
      .set("edges", p.edges)
      .set("empty_rows", p.empty_rows)
      .set("empty_cols", p.empty_cols)
      .set("self_loops", p.self_loops)
      .set("duplicates", p.duplicates)
      .set("mean_degree", p.mean_degree)
      .set("median_degree", p.median_degree)
      .set("p99_degree", p.p99_degree)
      .set("max_degree", p.max_degree)
      .set("max_out_degree", p.max_out_degree)
      .set("degree_cv", p.degree_cv)
      .set("symmetric", p.symmetric)
      .set("mean_column_gap", p.mean_column_gap)
      .set("distinct_per_8_rows", p.distinct_per_8_rows)
      .set("bytes", p.bytes);
}

std::string size_text(const Graph& graph) {
  if (graph.square()) return fmt::format("{} nodes, {} edges", with_spaces(graph.rows()), with_spaces(graph.edges()));
  return fmt::format("{} destinations, {} sources, {} edges", with_spaces(graph.rows()), with_spaces(graph.cols()),
                     with_spaces(graph.edges()));
}

Value size_value(const Graph& graph) {
  return Value::object()
      .set("rows", graph.rows())
      .set("cols", graph.cols())
      .set("edges", graph.edges())
      .set("fingerprint", graph.fingerprint().hex());
}

}  // namespace pantile::cli
