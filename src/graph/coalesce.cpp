#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <pantile/graph/coalesce.h>
#include <algorithm>
#include <cmath>

#include "graph/state.h"

namespace pantile {
namespace {

constexpr int64_t kRowGrain = 4096;

/// Folds the weights of positions [first, last), which share a (row, col); sums are kept in double, in CSR order.
float fold(std::span<const float> weights, int64_t first, int64_t last, Coalesce how) {
  const auto weight = [&](int64_t k) { return weights.empty() ? 1.0f : weights[static_cast<size_t>(k)]; };
  switch (how) {
    case Coalesce::first:
      return weight(first);
    case Coalesce::sum:
    case Coalesce::mean: {
      double sum = 0;
      for (int64_t k = first; k < last; ++k) sum += static_cast<double>(weight(k));
      return static_cast<float>(how == Coalesce::sum ? sum : sum / static_cast<double>(last - first));
    }
    case Coalesce::min:
    case Coalesce::max: {
      float best = weight(first);
      for (int64_t k = first + 1; k < last; ++k) {
        const float w = weight(k);
        if (std::isnan(best)) break;  // NaN wins, as in the reductions of module sparse
        if (std::isnan(w) || (how == Coalesce::min ? w < best : w > best)) best = w;
      }
      return best;
    }
  }
  return 0;
}

}  // namespace

Result<Coalesced> coalesce(const Graph& g, std::span<const float> weights, Coalesce how) {
  const Csr a = g.csr();
  if (!weights.empty() && static_cast<int64_t>(weights.size()) != a.edges()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("there are {} weights for {} edges; give one per edge in CSR order, or none",
                            weights.size(), a.edges()));
  }
  SortedEdges out;
  PANTILE_TRY(out.ptr, Array<int64_t>::allocate(a.rows + 1));
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t distinct = 0;
      for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) distinct += k == a.ptr[r] || a.col[k] != a.col[k - 1];
      out.ptr[r + 1] = distinct;
    }
  });
  out.ptr[0] = 0;
  for (int64_t r = 0; r < a.rows; ++r) out.ptr[r + 1] += out.ptr[r];
  const int64_t edges = out.ptr[a.rows];
  PANTILE_TRY(out.col, Array<int32_t>::allocate(edges));
  PANTILE_TRY(Array<float> folded, Array<float>::allocate(edges));
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t at = out.ptr[r];
      for (int64_t k = a.ptr[r], next = k; k < a.ptr[r + 1]; k = next) {
        while (next < a.ptr[r + 1] && a.col[next] == a.col[k]) ++next;
        out.col[at] = a.col[k];
        folded[at++] = fold(weights, k, next, how);
      }
    }
  });
  return Coalesced{GraphAssembly::own(a.rows, a.cols, std::move(out)), std::move(folded)};
}

}  // namespace pantile
