#pragma once

#include <pantile/sparse/spmm.h>
#include <span>

namespace pantile::sparse {

/// y[i, :] = reduce over k in [ptr[i], ptr[i + 1]) of x[perm ? perm[k] : k, :]; empty segments give 0.
/// x [n, F] any floating dtype and row stride; y [segments, F], same dtype; perm may be null. ptr is validated
/// (nondecreasing, ends at <= n).
Status segment_reduce(std::span<const int64_t> ptr, const int64_t* perm, Reduce reduce, ConstMatrix x, Matrix y);

/// p[k, h] = exp(z[k, h] - max) / sum over the edges of a row (by_row) or of a column (by_column), in CSR order, per
/// head. A row whose values are all -inf gives 0, not NaN; NaN stays in its row. z, p: [edges, heads] f32 or f64 (bf16,
/// f16: computed in f32).
Status edge_softmax(const Plan& plan, Direction d, ConstMatrix z, Matrix p);
/// dz = p * (dp - sum over the row of p * dp).
Status edge_softmax_grad(const Plan& plan, Direction d, ConstMatrix p, ConstMatrix dp, Matrix dz);

}  // namespace pantile::sparse
