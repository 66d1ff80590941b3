#pragma once

#include <pantile/core/buffer.h>
#include <pantile/core/matrix.h>
#include <pantile/graph/graph.h>

namespace pantile {

enum class Coalesce { sum, mean, min, max, first };  ///< what parallel weights become

struct Coalesced {
  Graph graph;           ///< every (row, col) once; edge_id is empty
  Array<float> weights;  ///< [graph.edges()] in CSR order; all ones folded by `how` when no weights came in
};

/// Merges parallel edges, explicitly: Pantile never does it by itself. weights: [edges] in CSR order, or empty (= all
/// 1).
Result<Coalesced> coalesce(const Graph& g, std::span<const float> weights, Coalesce how);

}  // namespace pantile
