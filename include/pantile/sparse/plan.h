#pragma once

#include <pantile/graph/graph.h>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pantile::sparse {

/// Which way an operator walks the graph: by_row gathers from sources into destinations (A), by_column the other way
/// (A^T).
enum class Direction { by_row, by_column };

/// The grain of work: whole rows [row, row_end) with the edges [edge, edge_end), or one segment [edge, edge_end) of a
/// hub row (slot >= 0: where its partial result goes). Units depend on the graph alone, never on the thread count: that
/// is what makes results bitwise equal.
struct Unit {
  int64_t row = 0, row_end = 0, edge = 0, edge_end = 0;
  int32_t slot = -1;
};
/// A row cut into segments; fold slots [slot, slot + count) in order.
struct Hub {
  int64_t row = 0;
  int32_t slot = 0, count = 0;
};

/// Invariants: (1) every row lies in exactly one unit or is one hub; (2) the segments of a hub cover its edges in
/// order; (3) cost has units + 1 entries, nondecreasing, cost = edges + 2 * rows; (4) slots = number of segments in
/// all; (5) order[row .. row_end) of a unit of whole rows holds its rows by ascending degree, ties by row.
struct Schedule {
  std::vector<Unit> units;
  std::vector<Hub> hubs;
  std::vector<int64_t> cost;
  std::vector<int32_t> order;
  int32_t slots = 0;
};
/// edges_per_unit: work per unit; a row over 2 * hub_segment edges is cut into segments of at most hub_segment.
Schedule make_schedule(const Csr& csr, int64_t edges_per_unit = 512, int64_t hub_segment = 4096);

/// A graph made ready for operators: its schedule in both directions and what is cached with it. A shared, immutable,
/// thread-safe handle; the column side is made when first asked for. `Plan::of` keeps one per graph, as long as the
/// graph lives.
class Plan {
 public:
  static Plan of(const Graph& g);

  const Graph& graph() const;
  Csr csr(Direction d) const;              ///< the graph's CSR or its transpose
  const int64_t* perm(Direction d) const;  ///< position in csr(d) -> CSR position; null for by_row (identity)
  const Schedule& schedule(Direction d) const;
  double build_seconds() const;  ///< time spent making the by_row schedule

  struct State;

 private:
  Plan(Graph graph, std::shared_ptr<State> state) : graph_(std::move(graph)), state_(std::move(state)) {}
  Graph graph_;
  std::shared_ptr<State> state_;
};

}  // namespace pantile::sparse
