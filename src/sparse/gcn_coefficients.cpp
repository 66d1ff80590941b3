#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <pantile/sparse/gcn.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "sparse/operands.h"

namespace pantile::sparse {
namespace {

using Shared = std::shared_ptr<const GcnCoefficients>;

/// Coefficients of unweighted graphs, kept in the graph's slot: layers and epochs share them.
struct GcnCache {
  std::mutex mutex;
  std::map<std::tuple<GcnNorm, double, DType>, Shared> made;
};

/// The self-loops of row i: CSR positions [first, last), empty when there are none.
std::pair<int64_t, int64_t> loops_of(const Csr& csr, int64_t i) {
  const auto range = std::equal_range(csr.col + csr.ptr[i], csr.col + csr.ptr[i + 1], static_cast<int32_t>(i));
  return {range.first - csr.col, range.second - csr.col};
}

template <class T>
Result<Shared> make(const Plan& plan, GcnNorm norm, double loop_weight, EdgeValues values,
                    Array<T> GcnCoefficients::*edge_member, Array<T> GcnCoefficients::*self_member) {
  const Csr csr = plan.csr(Direction::by_row);
  const bool loops = loop_weight != 0;
  const T* w = values.as<T>();
  auto made = std::make_shared<GcnCoefficients>();
  made->dtype = dtype_of<T>;
  PANTILE_TRY((*made).*edge_member, Array<T>::allocate(csr.edges()));
  if (loops) {
    PANTILE_TRY((*made).*self_member, Array<T>::allocate(csr.rows));
  }
  T* const edge = ((*made).*edge_member).data();
  T* const self = ((*made).*self_member).data();

  // Weights first: of several loops on one node the last counts, as in PyG's add_remaining_self_loops.
  parallel_for(csr.rows, 1024, [&](int64_t first, int64_t last) {
    for (int64_t k = csr.ptr[first]; k < csr.ptr[last]; ++k) edge[k] = w == nullptr ? T{1} : w[k];
    if (!loops) return;
    for (int64_t i = first; i < last; ++i) {
      const auto [b, e] = loops_of(csr, i);
      self[i] = b == e ? static_cast<T>(loop_weight) : T{0};
      if (e - b > 1) std::fill(edge + b, edge + e - 1, T{0});
    }
  });
  if (norm == GcnNorm::none) return Shared(std::move(made));

  PANTILE_TRY(Array<double> row_scale, Array<double>::allocate(csr.rows));
  PANTILE_TRY(Array<double> col_scale, Array<double>::allocate(csr.cols));
  const auto added = [&](int64_t i) { return loops && self[i] != T{0} ? 1.0 : 0.0; };
  const auto scale_by_count = [&](const Csr& side, double exponent, Array<double>& scale) {
    parallel_for(side.rows, 1024, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        scale[i] =
            exponent == 0
                ? 1.0
                : std::pow(std::max(1.0, static_cast<double>(side.ptr[i + 1] - side.ptr[i]) + added(i)), exponent);
    });
  };
  switch (norm) {
    case GcnNorm::pyg:
      parallel_for(csr.rows, 1024, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          double degree = loops ? static_cast<double>(self[i]) : 0.0;
          for (int64_t k = csr.ptr[i]; k < csr.ptr[i + 1]; ++k) degree += static_cast<double>(edge[k]);
          row_scale[i] = col_scale[i] = degree == 0 ? 0.0 : 1.0 / std::sqrt(degree);
        }
      });
      break;
    case GcnNorm::both:
      scale_by_count(csr, -0.5, row_scale);
      scale_by_count(plan.csr(Direction::by_column), -0.5, col_scale);
      break;
    case GcnNorm::left:
      scale_by_count(csr, 0, row_scale);
      scale_by_count(plan.csr(Direction::by_column), -1, col_scale);
      break;
    case GcnNorm::right:
      scale_by_count(csr, -1, row_scale);
      std::fill(col_scale.begin(), col_scale.end(), 1.0);
      break;
    case GcnNorm::none:
      break;
  }
  parallel_for(csr.rows, 1024, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      for (int64_t k = csr.ptr[i]; k < csr.ptr[i + 1]; ++k)
        edge[k] = static_cast<T>(row_scale[i] * static_cast<double>(edge[k]) * col_scale[csr.col[k]]);
      if (loops) self[i] = static_cast<T>(row_scale[i] * static_cast<double>(self[i]) * col_scale[i]);
    }
  });
  return Shared(std::move(made));
}

Result<Shared> make(const Plan& plan, GcnNorm norm, double loop_weight, EdgeValues w, DType dtype) {
  if (dtype == DType::f64)
    return make<double>(plan, norm, loop_weight, w, &GcnCoefficients::edge64, &GcnCoefficients::self64);
  return make<float>(plan, norm, loop_weight, w, &GcnCoefficients::edge32, &GcnCoefficients::self32);
}

}  // namespace

Result<Shared> gcn_coefficients(const Plan& plan, GcnNorm norm, double loop_weight, EdgeValues w, DType dtype) {
  const Csr csr = plan.csr(Direction::by_row);
  if (dtype != DType::f32 && dtype != DType::f64)
    return fail(ErrorCode::invalid_argument,
                fmt::format("coefficients of dtype {}; use float32, or float64 for float64 features", name(dtype)));
  if (csr.rows != csr.cols && (loop_weight != 0 || norm == GcnNorm::pyg))
    return fail(ErrorCode::invalid_argument,
                fmt::format("the graph is {} x {}; self-loops and the pyg norm need a square one", csr.rows, csr.cols));
  if (!std::isfinite(loop_weight)) return fail(ErrorCode::invalid_argument, "loop_weight must be finite");
  if (w.data != nullptr) {
    if (w.heads != 1)
      return fail(ErrorCode::invalid_argument, fmt::format("GCN takes one weight per edge, not {} heads", w.heads));
    if (w.dtype != dtype)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("edge values have dtype {}, the coefficients {}", name(w.dtype), name(dtype)));
    return make(plan, norm, loop_weight, w, dtype);
  }
  const auto cache = plan.graph().attached<GcnCache>([] { return std::make_shared<GcnCache>(); });
  std::lock_guard lock(cache->mutex);
  Shared& kept = cache->made[{norm, loop_weight, dtype}];
  if (kept == nullptr) {
    PANTILE_TRY(kept, make(plan, norm, loop_weight, w, dtype));
  }
  return kept;
}

}  // namespace pantile::sparse
