#pragma once

#include <pantile/graph/graph.h>
#include <vector>

namespace pantile {

enum class Reordering { degree, bfs, rcm, community };  ///< what sorts the nodes

struct Reordered {
  Graph graph;                      ///< edge_id refers to the input graph's CSR positions
  std::vector<int64_t> new_of_old;  ///< permutation: new id of each old node
};

/// What a reordering would bring, from 64 sampled windows before and after.
struct ReorderForecast {
  double distinct_before = 0, distinct_after = 0;            ///< distinct columns / edges per 8-row window
  double unit_distinct_before = 0, unit_distinct_after = 0;  ///< the same per 512-edge unit
  double predicted_speedup = 1;
  double reorder_seconds = 0;   ///< measured cost of computing and applying the order
  double pays_after_calls = 0;  ///< SpMM calls at width 64 until the cost is earned back; infinity when never
};

/// Renames the nodes of a square graph. Deterministic for any thread count.
Result<Reordered> reorder(const Graph& g, Reordering how);
Result<ReorderForecast> forecast_reorder(const Graph& g, const Reordered& r, double reorder_seconds);

}  // namespace pantile
