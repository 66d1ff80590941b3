#pragma once

#include <pantile/core/dtype.h>
#include <pantile/core/error.h>
#include <pantile/core/hash.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <typeindex>

namespace pantile {

/// A borrowed compressed matrix pattern: row i holds the columns col[ptr[i]] ... col[ptr[i + 1] - 1].
struct Csr {
  int64_t rows = 0, cols = 0;
  const int64_t* ptr = nullptr;  ///< [rows + 1]
  const int32_t* col = nullptr;  ///< [ptr[rows]]
  int64_t edges() const { return ptr == nullptr ? 0 : ptr[rows]; }
};

/// The graph seen from its sources: row j of `csr` holds the destinations of the edges that leave node j.
struct Transposed {
  Csr csr;                        ///< rows = graph.cols(), cols = graph.rows()
  const int64_t* perm = nullptr;  ///< [edges] position here -> CSR position in the graph; ascending inside each row
};

/// Statistics that plans and `info` print. Degrees are those of rows (in-degrees: rows are destinations).
struct GraphProfile {
  int64_t rows = 0, cols = 0, edges = 0;
  int64_t empty_rows = 0, empty_cols = 0, self_loops = 0,
          duplicates = 0;  ///< duplicates: edges beyond the first of a (row, col)
  int64_t max_degree = 0, median_degree = 0, p99_degree = 0, max_out_degree = 0;
  double mean_degree = 0, degree_cv = 0;  ///< cv = standard deviation / mean
  bool symmetric = false;                 ///< pattern equals its transpose, multiplicities included
  double mean_column_gap = 0;             ///< mean |col[k+1] - col[k]| inside rows: how local the gathers are
  double distinct_per_8_rows = 0;         ///< distinct columns / edges in windows of 8 rows (64 sampled windows)
  int64_t bytes = 0;                      ///< memory of the CSR arrays
};

/// An immutable graph as a CSR matrix: row = destination, columns = its sources, so that y = A x aggregates over
/// incoming edges. Rectangular (bipartite) graphs are allowed. A Graph is a shared handle: copies cost nothing and are
/// thread-safe.
///
/// Invariants, checked when it is made:
///  1. ptr has rows + 1 entries, ptr[0] = 0, nondecreasing, ptr[rows] = edges.
///  2. 0 <= col[k] < cols < 2^31; columns ascend inside a row; equal columns keep the caller's order.
///  3. Duplicates, self-loops, isolated nodes, zero edges and zero nodes are kept exactly as given.
///  4. edge_id maps a CSR position to the caller's edge number; it is empty when that is the identity.
class Graph {
 public:
  Graph();  ///< 0 x 0, no edges

  /// From `count` edges src[k] -> dst[k] in any order (stable radix sort by (dst, src), O(E), parallel, same result for
  /// any thread count). num_dst, num_src: node counts; -1 means 1 + the largest id, for callers who ask for that.
  /// Errors: out_of_range "edge 17: source 5000 is outside [0, 2708); ..."; negative ids; sizes beyond 2^31 - 1 nodes.
  static Result<Graph> from_edges(std::span<const int64_t> src, std::span<const int64_t> dst, int64_t num_dst,
                                  int64_t num_src);
  static Result<Graph> from_edges(std::span<const int32_t> src, std::span<const int32_t> dst, int64_t num_dst,
                                  int64_t num_src);

  /// From CSR arrays (copied). Columns may be unsorted inside rows: they are sorted and edge_id remembers the order.
  /// Errors: invalid_argument for offsets that do not fit ("ptr[12] = 7 is below ptr[11] = 9"), out_of_range for
  /// columns.
  static Result<Graph> from_csr(int64_t rows, int64_t cols, std::span<const int64_t> ptr, std::span<const int64_t> col);
  static Result<Graph> from_csr(int64_t rows, int64_t cols, std::span<const int64_t> ptr, std::span<const int32_t> col);
  /// From CSR arrays that are already sorted inside rows, borrowed without copying; `owner` keeps them alive. Validated
  /// all the same.
  static Result<Graph> borrow_csr(int64_t rows, int64_t cols, const int64_t* ptr, const int32_t* col,
                                  std::shared_ptr<const void> owner);

  int64_t rows() const;  ///< destinations
  int64_t cols() const;  ///< sources
  int64_t edges() const;
  bool square() const { return rows() == cols(); }
  Csr csr() const;
  std::span<const int64_t> ptr() const;
  std::span<const int32_t> col() const;
  std::span<const int64_t> edge_id() const;  ///< empty when CSR order is the caller's order

  /// Made on first use, then shared by all copies; thread-safe, O(E). Not for use from inside a share of the thread
  /// pool, unless made before. Where memory may not suffice, call prepare_transposed() first: without it transposed()
  /// throws std::bad_alloc.
  const Transposed& transposed() const;
  Status prepare_transposed() const;   ///< Errors: out_of_memory
  const Hash128& fingerprint() const;  ///< of rows, cols, ptr, col: equal patterns have equal fingerprints
  const GraphProfile& profile() const;

  /// Explicit changes; each gives a new graph whose edge_id refers to this graph's CSR positions, new edges having the
  /// ids edges(), edges() + 1, ... in row order.
  Result<Graph> with_self_loops() const;            ///< one loop more on every node; square graphs only
  Result<Graph> with_remaining_self_loops() const;  ///< a loop only where none is
  Result<Graph> without_self_loops() const;
  Result<Graph> reversed() const;     ///< the transpose as a graph of its own
  Result<Graph> symmetrised() const;  ///< A + A^T without duplicates of (row, col)

  /// Slot for what other modules compute once per graph (kept as long as the graph lives). `make` runs at most once per
  /// type; thread-safe; it may ask for slots of other types, not of its own.
  template <class T>
  std::shared_ptr<T> attached(const std::function<std::shared_ptr<T>()>& make) const {
    return std::static_pointer_cast<T>(
        attached(std::type_index(typeid(T)), [&]() -> std::shared_ptr<void> { return make(); }));
  }

 private:
  struct State;
  friend struct GraphAssembly;  // the module's own way to make graphs from arrays that it knows to be valid
  explicit Graph(std::shared_ptr<State> state);
  std::shared_ptr<void> attached(std::type_index type, const std::function<std::shared_ptr<void>()>& make) const;
  std::shared_ptr<State> state_;
};

}  // namespace pantile
