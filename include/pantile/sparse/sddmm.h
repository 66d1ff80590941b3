#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/sparse/plan.h>

namespace pantile::sparse {

enum class EdgeOp { dot, add, sub, mul, div, copy_lhs, copy_rhs };  ///< of an edge's two operands
/// Where an operand of sddmm lives: dst = row of the edge, src = its column, edge = the edge itself (CSR order).
enum class Target { dst, src, edge };
struct Operand {
  Target target = Target::dst;
  ConstMatrix values;  ///< [rows | cols | edges, F]
};

/// out[k, :] = op(lhs, rhs) for every edge k in CSR order (DGL gsddmm). dot: per head, out [edges, heads] with heads
/// dividing F. The other operations: out [edges, F]; an operand with one column is broadcast over F, one with `heads`
/// columns over each head. dtype: f32, f64, bf16, f16, the same for both operands; out has the dtype of the operands
/// (dot on bf16/f16: f32 out is allowed too).
Status sddmm(const Plan& plan, EdgeOp op, Operand lhs, Operand rhs, int64_t heads, Matrix out);

}  // namespace pantile::sparse
