#include <fmt/format.h>

#include <pantile/core/buffer.h>
#include <pantile/core/thread_pool.h>
#include <pantile/sparse/sddmm.h>
#include <pantile/sparse/spmm.h>
#include <algorithm>
#include <atomic>

#include "sparse/operands.h"
#include "sparse/spmm_run.h"

namespace pantile::sparse {
namespace {

bool is_extreme(Reduce r) { return r == Reduce::min || r == Reduce::max; }

Status check_arg(const int64_t* arg, int64_t rows, int64_t cols) {
  if (arg != nullptr || rows == 0 || cols == 0) return {};
  return fail(ErrorCode::invalid_argument, "the gradient of min and max needs arg, as spmm_arg wrote it");
}

/// 1 / max(degree, 1) of every row.
template <class A>
Result<Buffer> inverse_degrees(const Csr& csr) {
  PANTILE_TRY(Buffer inverse, Buffer::allocate_elements(csr.rows, sizeof(A)));
  A* out = inverse.as<A>();
  parallel_for(csr.rows, 1 << 16, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      out[i] = A{1} / static_cast<A>(std::max<int64_t>(csr.ptr[i + 1] - csr.ptr[i], 1));
  });
  return inverse;
}

float widen(float v) { return v; }
double widen(double v) { return v; }
float widen(BFloat16 v) { return to_float(v); }
float widen(Float16 v) { return to_float(v); }

/// dw[arg[i, f], head of f] += dy[i, f] * x[col, f]: O(rows * F), and each row writes only its own edges.
template <class T>
Status extreme_grad_w(const Csr& csr, const ConstMatrix& x, const ConstMatrix& dy, const int64_t* arg, int64_t heads,
                      void* out) {
  using A = decltype(widen(T{}));
  A* dw = static_cast<A*>(out);
  const int64_t dim = std::max<int64_t>(x.cols / heads, 1);
  std::atomic<int64_t> bad_row{-1};
  parallel_for(csr.rows, 256, [&](int64_t first, int64_t last) {
    std::fill(dw + csr.ptr[first] * heads, dw + csr.ptr[last] * heads, A{0});
    for (int64_t i = first; i < last; ++i) {
      const int64_t b = csr.ptr[i], e = csr.ptr[i + 1];
      for (int64_t f = 0; f < x.cols; ++f) {
        const int64_t k = arg[i * x.cols + f];
        if (k == -1) continue;
        if (k < b || k >= e) {
          bad_row.store(i, std::memory_order_relaxed);
          continue;
        }
        dw[k * heads + f / dim] +=
            widen(dy.as<T>()[i * dy.row_stride + f]) * widen(x.as<T>()[csr.col[k] * x.row_stride + f]);
      }
    }
  });
  if (const int64_t i = bad_row.load(); i >= 0)
    return fail(ErrorCode::out_of_range,
                fmt::format("arg of row {} names an edge outside [{}, {}); it must come from spmm_arg on this graph", i,
                            csr.ptr[i], csr.ptr[i + 1]));
  return {};
}

template <class A>
void divide_by_degree(const Csr& csr, int64_t heads, void* out) {
  A* dw = static_cast<A*>(out);
  parallel_for(csr.rows, 256, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const A inverse = A{1} / static_cast<A>(std::max<int64_t>(csr.ptr[i + 1] - csr.ptr[i], 1));
      for (int64_t k = csr.ptr[i] * heads; k < csr.ptr[i + 1] * heads; ++k) dw[k] *= inverse;
    }
  });
}

}  // namespace

Status spmm_grad_x(const Plan& plan, Reduce reduce, EdgeValues w, ConstMatrix dy, const int64_t* arg, Matrix dx) {
  const Csr csr = plan.csr(Direction::by_row);
  PANTILE_CHECK(check_matrix("dy", dy, csr.rows, dy.cols));
  PANTILE_CHECK(check_matrix("dx", dx, csr.cols, dy.cols));
  PANTILE_CHECK(check_same_dtype("dx", dx.dtype, "dy", dy.dtype));
  PANTILE_CHECK(check_edge_values(w, dy.dtype, dy.cols));
  PANTILE_CHECK(check_apart("dx", dx, "dy", dy));
  SpmmArgs a = spmm_args(plan, Direction::by_column, dy, w, dx);
  if (is_extreme(reduce)) {
    PANTILE_CHECK(check_arg(arg, dy.rows, dy.cols));
    a.winners = arg;
    a.perm = plan.perm(Direction::by_column);
    return run_spmm(arg_grad_kernel(), a);
  }
  Buffer inverse;
  if (reduce == Reduce::mean) {
    PANTILE_TRY(inverse, dy.dtype == DType::f64 ? inverse_degrees<double>(csr) : inverse_degrees<float>(csr));
    a.source_scale = inverse.data();
  }
  return run_spmm(choose_spmm(a), a);
}

Status spmm_grad_w(const Plan& plan, Reduce reduce, ConstMatrix x, ConstMatrix dy, const int64_t* arg, int64_t heads,
                   void* dw) {
  const Csr csr = plan.csr(Direction::by_row);
  PANTILE_CHECK(check_matrix("x", x, csr.cols, x.cols));
  PANTILE_CHECK(check_matrix("dy", dy, csr.rows, x.cols));
  PANTILE_CHECK(check_same_dtype("dy", dy.dtype, "x", x.dtype));
  const DType kind = accumulator_of(x.dtype);
  PANTILE_CHECK(check_edge_values({nullptr, kind, heads}, x.dtype, x.cols));
  if (csr.edges() == 0) return {};
  if (dw == nullptr)
    return fail(ErrorCode::invalid_argument, fmt::format("dw is null, {} x {} values are needed", csr.edges(), heads));
  if (is_extreme(reduce)) {
    PANTILE_CHECK(check_arg(arg, dy.rows, dy.cols));
    switch (x.dtype) {
      case DType::f32:
        return extreme_grad_w<float>(csr, x, dy, arg, heads, dw);
      case DType::f64:
        return extreme_grad_w<double>(csr, x, dy, arg, heads, dw);
      case DType::bf16:
        return extreme_grad_w<BFloat16>(csr, x, dy, arg, heads, dw);
      default:
        return extreme_grad_w<Float16>(csr, x, dy, arg, heads, dw);
    }
  }
  PANTILE_CHECK(
      sddmm(plan, EdgeOp::dot, {Target::dst, dy}, {Target::src, x}, heads, {dw, kind, csr.edges(), heads, heads}));
  if (reduce == Reduce::mean)
    kind == DType::f64 ? divide_by_degree<double>(csr, heads, dw) : divide_by_degree<float>(csr, heads, dw);
  return {};
}

}  // namespace pantile::sparse
