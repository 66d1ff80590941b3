#pragma once

#include <pantile/sparse/sddmm.h>

#include <span>

#include "sparse/kernels/attention.h"

namespace pantile::sparse {

struct SddmmOperand {
  Target target = Target::dst;
  Values values;
  int64_t cols = 0;
};
/// One call per range of units; rows and segments alike, every edge writes its own row of `out`.
struct SddmmArgs {
  Csr csr;
  std::span<const Unit> units;
  DType dtype = DType::f32;
  EdgeOp op = EdgeOp::dot;
  Heads shape;  ///< dot: of the operands; else of out
  SddmmOperand lhs, rhs;
  MutableValues out;
  bool wide_out = false;  ///< out has the accumulator type
};
void sddmm_units(const SddmmArgs& args);
/// The dot of one head between a row per destination and a row per source, whichever side each was given on.
void sddmm_dot_units(const SddmmArgs& args, const SddmmOperand& dst, const SddmmOperand& src);

}  // namespace pantile::sparse
