#include <fmt/format.h>

#include <pantile/sparse/spmm.h>

#include "sparse/operands.h"
#include "sparse/spmm_run.h"

namespace pantile::sparse {
namespace {

Status check_spmm(const Plan& plan, Direction d, const ConstMatrix& x, const EdgeValues& w, const Matrix& y) {
  const Csr csr = plan.csr(d);
  PANTILE_CHECK(check_matrix("x", x, csr.cols, x.cols));
  PANTILE_CHECK(check_matrix("y", y, csr.rows, x.cols));
  PANTILE_CHECK(check_same_dtype("y", y.dtype, "x", x.dtype));
  PANTILE_CHECK(check_edge_values(w, x.dtype, x.cols));
  return check_apart("y", y, "x", x);
}

}  // namespace

Status spmm(const Plan& plan, Direction d, Reduce reduce, ConstMatrix x, EdgeValues w, Matrix y) {
  PANTILE_CHECK(check_spmm(plan, d, x, w, y));
  SpmmArgs a = spmm_args(plan, d, x, w, y);
  a.reduce = reduce;
  return run_spmm(choose_spmm(a), a);
}

Status spmm_arg(const Plan& plan, Reduce reduce, ConstMatrix x, EdgeValues w, Matrix y, int64_t* arg) {
  if (reduce != Reduce::min && reduce != Reduce::max)
    return fail(ErrorCode::invalid_argument, "spmm_arg knows min and max; a sum or mean has no winning edge");
  PANTILE_CHECK(check_spmm(plan, Direction::by_row, x, w, y));
  if (arg == nullptr && y.rows > 0 && y.cols > 0)
    return fail(ErrorCode::invalid_argument, fmt::format("arg is null, {} x {} positions are needed", y.rows, y.cols));
  SpmmArgs a = spmm_args(plan, Direction::by_row, x, w, y);
  a.reduce = reduce;
  a.arg = arg;
  return run_spmm(arg_kernel(), a);
}

}  // namespace pantile::sparse
