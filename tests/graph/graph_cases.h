#pragma once

#include <pantile/core/random.h>
#include <pantile/core/thread_pool.h>
#include <pantile/graph/graph.h>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pantile {

struct Edges {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> src, dst;
};

/// What every builder must give: the edges sorted by (dst, src), ties by input position.
struct NaiveGraph {
  explicit NaiveGraph(const Edges& e) : ptr(static_cast<size_t>(e.rows) + 1), order(e.src.size()) {
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const auto i = static_cast<size_t>(a), k = static_cast<size_t>(b);
      return std::pair(e.dst[i], e.src[i]) < std::pair(e.dst[k], e.src[k]);
    });
    for (const int64_t k : order) {
      col.push_back(static_cast<int32_t>(e.src[static_cast<size_t>(k)]));
      ++ptr[static_cast<size_t>(e.dst[static_cast<size_t>(k)]) + 1];
    }
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
  }
  std::vector<int64_t> ptr, order;
  std::vector<int32_t> col;
};

template <class T>
std::vector<T> copy(std::span<const T> s) {
  return {s.begin(), s.end()};
}

/// edge_id with the identity written out.
inline std::vector<int64_t> ids_of(const Graph& g) {
  if (!g.edge_id().empty()) return copy(g.edge_id());
  std::vector<int64_t> ids(static_cast<size_t>(g.edges()));
  std::iota(ids.begin(), ids.end(), int64_t{0});
  return ids;
}

inline Graph graph_of(const Edges& e) { return *Graph::from_edges(e.src, e.dst, e.rows, e.cols); }

/// Random edges, sources skewed towards small ids so that duplicates and hubs appear.
inline Edges random_edges(int64_t rows, int64_t cols, int64_t edges, uint64_t seed) {
  Edges e{rows, cols, {}, {}};
  Random random(seed);
  for (int64_t i = 0; i < edges; ++i) {
    const double u = random.uniform_double();
    e.src.push_back(static_cast<int64_t>(u * u * static_cast<double>(cols)));
    e.dst.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(rows))));
  }
  return e;
}

inline bool same_graph(const Graph& a, const Graph& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::ranges::equal(a.ptr(), b.ptr()) &&
         std::ranges::equal(a.col(), b.col()) && std::ranges::equal(a.edge_id(), b.edge_id());
}

/// Sets the number of threads for a scope.
class Threads {
 public:
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(0); }
};

}  // namespace pantile
