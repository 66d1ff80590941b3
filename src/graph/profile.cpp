#include <pantile/core/thread_pool.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "graph/locality.h"
#include "graph/state.h"

namespace pantile {
namespace {

constexpr int64_t kRowGrain = 4096;

/// What one fixed chunk of rows adds; folded in chunk order.
struct RowSums {
  int64_t empty = 0, loops = 0, duplicates = 0, most = 0, gaps = 0;
  int64_t gap_sum = 0;
  double squares = 0;
};

RowSums sum_rows(const Csr& a, int64_t begin, int64_t end, std::vector<int64_t>& out_degree) {
  RowSums s;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t first = a.ptr[r], last = a.ptr[r + 1], degree = last - first;
    s.empty += degree == 0;
    s.most = std::max(s.most, degree);
    s.squares += static_cast<double>(degree) * static_cast<double>(degree);
    for (int64_t k = first; k < last; ++k) {
      s.loops += a.col[k] == r;
      std::atomic_ref(out_degree[static_cast<size_t>(a.col[k])]).fetch_add(1, std::memory_order_relaxed);
      if (k == first) continue;
      s.duplicates += a.col[k] == a.col[k - 1];
      s.gap_sum += a.col[k] - a.col[k - 1];
      ++s.gaps;
    }
  }
  return s;
}

bool is_symmetric(const Graph& g, const std::vector<int64_t>& out_degree) {
  if (!g.square()) return false;
  const Csr a = g.csr();
  for (int64_t r = 0; r < a.rows; ++r) {
    if (a.ptr[r + 1] - a.ptr[r] != out_degree[static_cast<size_t>(r)])
      return false;  // nearly always decides, without a transpose
  }
  const Transposed& t = g.transposed();
  return std::equal(a.ptr, a.ptr + a.rows + 1, t.csr.ptr) && std::equal(a.col, a.col + a.edges(), t.csr.col);
}

}  // namespace

GraphProfile make_profile(const Graph& g) {
  const Csr a = g.csr();
  GraphProfile p;
  p.rows = a.rows;
  p.cols = a.cols;
  p.edges = a.edges();
  p.bytes = 8 * (a.rows + 1) + 4 * p.edges + 8 * static_cast<int64_t>(g.edge_id().size());

  std::vector<int64_t> out_degree(static_cast<size_t>(a.cols));
  std::vector<RowSums> of_chunk(static_cast<size_t>((a.rows + kRowGrain - 1) / kRowGrain));
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    of_chunk[static_cast<size_t>(begin / kRowGrain)] = sum_rows(a, begin, end, out_degree);
  });
  RowSums all;
  for (const RowSums& s : of_chunk) {
    all.empty += s.empty;
    all.loops += s.loops;
    all.duplicates += s.duplicates;
    all.most = std::max(all.most, s.most);
    all.gaps += s.gaps;
    all.gap_sum += s.gap_sum;
    all.squares += s.squares;
  }
  p.empty_rows = all.empty;
  p.self_loops = g.square() ? all.loops : 0;
  p.duplicates = all.duplicates;
  p.max_degree = all.most;
  p.mean_column_gap = all.gaps == 0 ? 0 : static_cast<double>(all.gap_sum) / static_cast<double>(all.gaps);
  p.empty_cols = std::count(out_degree.begin(), out_degree.end(), 0);
  p.max_out_degree = out_degree.empty() ? 0 : *std::max_element(out_degree.begin(), out_degree.end());
  if (a.rows > 0) {
    const double n = static_cast<double>(a.rows);
    p.mean_degree = static_cast<double>(p.edges) / n;
    const double variance = std::max(0.0, all.squares / n - p.mean_degree * p.mean_degree);
    p.degree_cv = p.edges == 0 ? 0 : std::sqrt(variance) / p.mean_degree;
    std::vector<int64_t> degree(static_cast<size_t>(a.rows));
    for (int64_t r = 0; r < a.rows; ++r) degree[static_cast<size_t>(r)] = a.ptr[r + 1] - a.ptr[r];
    const auto rank = [&](int64_t k) {
      std::nth_element(degree.begin(), degree.begin() + k, degree.end());
      return degree[static_cast<size_t>(k)];
    };
    p.median_degree = rank((a.rows - 1) / 2);
    p.p99_degree = rank((a.rows - 1) - (a.rows - 1) / 100);
  }
  p.symmetric = is_symmetric(g, out_degree);
  p.distinct_per_8_rows = distinct_in_row_windows(a);
  return p;
}

}  // namespace pantile
