#include <fmt/format.h>

#include <pantile/core/cpu.h>
#include <pantile/core/thread_pool.h>
#include <pantile/graph/reorder.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "graph/locality.h"
#include "graph/state.h"

namespace pantile {
namespace {

constexpr int kCommunityRounds = 4;

std::vector<int64_t> inverse(const std::vector<int64_t>& order) {
  std::vector<int64_t> position(order.size());
  for (size_t i = 0; i < order.size(); ++i) position[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return position;
}

/// 0 .. n-1 sorted by key, smaller ids first among equals; O(n + largest key).
std::vector<int64_t> order_by(const std::vector<int64_t>& key) {
  const int64_t most = key.empty() ? 0 : *std::max_element(key.begin(), key.end());
  std::vector<int64_t> at(static_cast<size_t>(most) + 2), order(key.size());
  for (const int64_t k : key) ++at[static_cast<size_t>(k) + 1];
  std::partial_sum(at.begin(), at.end(), at.begin());
  for (size_t i = 0; i < key.size(); ++i)
    order[static_cast<size_t>(at[static_cast<size_t>(key[i])]++)] = static_cast<int64_t>(i);
  return order;
}

std::vector<int64_t> degrees(const Csr& a) {
  std::vector<int64_t> degree(static_cast<size_t>(a.rows));
  for (int64_t r = 0; r < a.rows; ++r) degree[static_cast<size_t>(r)] = a.ptr[r + 1] - a.ptr[r];
  return degree;
}

/// Largest in-degree first.
std::vector<int64_t> by_degree(const Csr& a) {
  std::vector<int64_t> key = degrees(a);
  const int64_t most = key.empty() ? 0 : *std::max_element(key.begin(), key.end());
  for (int64_t& k : key) k = most - k;
  return order_by(key);
}

/// Breadth-first walks over a symmetric pattern.
class Walk {
 public:
  Walk(const Csr& a, bool by_degree)
      : a_(a), by_degree_(by_degree), degree_(degrees(a)), seen_(static_cast<size_t>(a.rows), 0) {}

  /// Appends the component of `start` to `order`, level by level, neighbours by id or by degree, then id.
  /// Returns where its last level begins.
  size_t append(int64_t start, std::vector<int64_t>& order) {
    size_t level = order.size(), next_level = level + 1;
    order.push_back(start);
    seen_[static_cast<size_t>(start)] = ++round_;
    for (size_t head = level; head < order.size(); ++head) {
      if (head == next_level) {
        level = next_level;
        next_level = order.size();
      }
      const size_t first = order.size();
      const int64_t node = order[head];
      for (int64_t k = a_.ptr[node]; k < a_.ptr[node + 1]; ++k) {
        uint32_t& seen = seen_[static_cast<size_t>(a_.col[k])];
        if (seen == round_) continue;
        seen = round_;
        order.push_back(a_.col[k]);
      }
      if (by_degree_) {
        std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                  [&](int64_t x, int64_t y) { return less(x, y); });
      }
    }
    return level;
  }
  bool seen(int64_t node) const { return seen_[static_cast<size_t>(node)] != 0; }
  bool less(int64_t x, int64_t y) const {
    const int64_t dx = degree_[static_cast<size_t>(x)], dy = degree_[static_cast<size_t>(y)];
    return dx != dy ? dx < dy : x < y;
  }
  const std::vector<int64_t>& degree() const { return degree_; }

 private:
  const Csr& a_;
  const bool by_degree_;
  std::vector<int64_t> degree_;
  std::vector<uint32_t> seen_;  // round in which a node was last reached
  uint32_t round_ = 0;
};

/// Components in the order of their smallest-degree nodes; each starts there (bfs) or, for Cuthill-McKee (1969), at the
/// end of two walks from there (George and Liu's pseudo-peripheral node, two steps).
std::vector<int64_t> by_walk(const Csr& a, bool rcm) {
  Walk walk(a, rcm);
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(a.rows));
  for (const int64_t seed : order_by(walk.degree())) {
    if (walk.seen(seed)) continue;
    int64_t start = seed;
    const auto begin = static_cast<std::ptrdiff_t>(order.size());
    for (int step = 0; rcm && step < 2; ++step) {
      const auto last_level = static_cast<std::ptrdiff_t>(walk.append(start, order));
      start = *std::min_element(order.begin() + last_level, order.end(),
                                [&](int64_t x, int64_t y) { return walk.less(x, y); });
      order.resize(static_cast<size_t>(begin));
    }
    walk.append(start, order);
  }
  if (rcm) std::reverse(order.begin(), order.end());
  return order;
}

/// Label propagation (Raghavan et al., Phys. Rev. E 2007): every node takes the label most frequent among its
/// neighbours, the smallest on ties, nodes in ascending order; sequential, because each step sees the labels of the
/// steps before.
std::vector<int64_t> by_community(const Csr& a) {
  std::vector<int64_t> label(static_cast<size_t>(a.rows)), votes(static_cast<size_t>(a.rows));
  std::iota(label.begin(), label.end(), int64_t{0});
  for (int round = 0; round < kCommunityRounds; ++round) {
    for (int64_t r = 0; r < a.rows; ++r) {
      int64_t best = label[static_cast<size_t>(r)], best_votes = 0;
      for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) {
        const int64_t l = label[static_cast<size_t>(a.col[k])], v = ++votes[static_cast<size_t>(l)];
        if (v > best_votes || (v == best_votes && l < best)) {
          best = l;
          best_votes = v;
        }
      }
      for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k)
        votes[static_cast<size_t>(label[static_cast<size_t>(a.col[k])])] = 0;
      label[static_cast<size_t>(r)] = best;
    }
  }
  return order_by(label);
}

Result<Graph> rename(const Graph& g, const std::vector<int64_t>& new_of_old) {
  const Csr a = g.csr();
  PANTILE_CHECK(check_memory(28 * a.edges(), fmt::format("renaming a graph of {} edges", a.edges())));
  PANTILE_TRY(Array<int32_t> src, Array<int32_t>::allocate(a.edges()));
  PANTILE_TRY(Array<int32_t> dst, Array<int32_t>::allocate(a.edges()));
  parallel_for(a.rows, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) {
        src[k] = static_cast<int32_t>(new_of_old[static_cast<size_t>(a.col[k])]);
        dst[k] = static_cast<int32_t>(new_of_old[static_cast<size_t>(r)]);
      }
    }
  });
  return Graph::from_edges(src.span(), dst.span(), a.rows, a.cols);
}

// Time of an SpMM edge at width 64: kEdgeNs from near caches, and kMissShare of it more for each distinct column of a
// unit when the table lies beyond the second-level cache. kMissShare is what makes the measured gain on scrambled
// communities (1.8x) come out.
constexpr double kEdgeNs = 3.0, kMissShare = 1.45;
constexpr double kWidthBytes = 64 * sizeof(float);

}  // namespace

Result<Reordered> reorder(const Graph& g, Reordering how) {
  if (!g.square()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("only a square graph can be reordered; this one has {} destinations and {} sources",
                            g.rows(), g.cols()));
  }
  Reordered result;
  if (how == Reordering::degree) {
    result.new_of_old = inverse(by_degree(g.csr()));
  } else {
    PANTILE_TRY(const Graph both, g.symmetrised());
    const Csr a = both.csr();
    result.new_of_old = inverse(how == Reordering::community ? by_community(a) : by_walk(a, how == Reordering::rcm));
  }
  PANTILE_TRY(result.graph, rename(g, result.new_of_old));
  return result;
}

Result<ReorderForecast> forecast_reorder(const Graph& g, const Reordered& r, double reorder_seconds) {
  if (g.rows() != r.graph.rows() || g.edges() != r.graph.edges()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the reordered graph has {} nodes and {} edges, the original {} and {}; they must agree",
                            r.graph.rows(), r.graph.edges(), g.rows(), g.edges()));
  }
  ReorderForecast f;
  f.reorder_seconds = reorder_seconds;
  f.distinct_before = distinct_in_row_windows(g.csr());
  f.distinct_after = distinct_in_row_windows(r.graph.csr());
  f.unit_distinct_before = distinct_in_units(g.csr());
  f.unit_distinct_after = distinct_in_units(r.graph.csr());
  const double table = static_cast<double>(g.cols()) * kWidthBytes, cache = static_cast<double>(cpu_info().l2_bytes);
  const double beyond = table > 0 ? std::clamp(1 - cache / table, 0.0, 1.0) : 0;
  const double before = 1 + kMissShare * beyond * f.unit_distinct_before,
               after = 1 + kMissShare * beyond * f.unit_distinct_after;
  f.predicted_speedup = before / after;
  const double saved = static_cast<double>(g.edges()) * kEdgeNs * 1e-9 * (before - after);
  f.pays_after_calls = saved > 0 ? std::ceil(reorder_seconds / saved) : std::numeric_limits<double>::infinity();
  return f;
}

}  // namespace pantile
