#pragma once

#include "sparse/kernels/spmm.h"

namespace pantile::sparse {

/// The arguments that plan, direction and features decide.
SpmmArgs spmm_args(const Plan& plan, Direction d, const ConstMatrix& x, const EdgeValues& w, const Matrix& y);
/// Runs a kernel over all units, on one thread when the work is too small to share, and folds the hubs. Fills
/// args.part.
Status run_spmm(const SpmmKernel& kernel, SpmmArgs args);
/// The kernel of a plain spmm with these arguments.
SpmmKernel choose_spmm(const SpmmArgs& args);

}  // namespace pantile::sparse
