#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/sparse/edge_values.h>
#include <pantile/sparse/plan.h>

namespace pantile::sparse {

/// mean divides by max(degree, 1), where degree counts edges, not weights. An empty row gives 0 for every reduction.
enum class Reduce { sum, mean, min, max };

/// y[i, h, :] = reduce over edges k of row i of w[k, h] * x[col[k], h, :]   (row i of A, or of A^T for by_column)
/// [in]  x  [csr(d).cols, F], f32, f64, bf16 or f16, any row stride; F = heads * D with heads = w.heads (F % heads ==
/// 0) [in]  w  edge values in the graph's CSR order, or none [out] y  [csr(d).rows, F], dtype of x, every element
/// written; must not overlap x Accumulates in f32 (f64 for f64) and rounds once. Bitwise equal for any thread count.
/// min and max: NaN wins. Errors: invalid_argument (shape, dtype, heads), out_of_memory. Source: TC-GNN section 3
/// (aggregation), DGL gspmm semantics.
Status spmm(const Plan& plan, Direction d, Reduce reduce, ConstMatrix x, EdgeValues w, Matrix y);

/// min or max, and arg[i, f] = CSR position of the edge that won (smallest on ties; the first NaN wins), -1 for an
/// empty row. arg: int64 [rows, F], dense. by_row only.
Status spmm_arg(const Plan& plan, Reduce reduce, ConstMatrix x, EdgeValues w, Matrix y, int64_t* arg);

/// Gradient of spmm(by_row) to x: dx [cols, F]. sum: A^T(w) dy; mean: A^T(w) (dy / max(deg, 1)); min, max: arg from
/// spmm_arg.
Status spmm_grad_x(const Plan& plan, Reduce reduce, EdgeValues w, ConstMatrix dy, const int64_t* arg, Matrix dx);
/// Gradient of spmm(by_row) to w: dw [edges, heads] in CSR order, dtype of w's kind (f32, or f64 for f64 features).
Status spmm_grad_w(const Plan& plan, Reduce reduce, ConstMatrix x, ConstMatrix dy, const int64_t* arg, int64_t heads,
                   void* dw);

}  // namespace pantile::sparse
