#include <fmt/format.h>

#include <pantile/sparse/gcn.h>

#include "sparse/operands.h"
#include "sparse/spmm_run.h"

namespace pantile::sparse {

Status gcn(const Plan& plan, Direction d, const GcnCoefficients& c, ConstMatrix x, const void* bias, Activation act,
           double negative_slope, Matrix y) {
  const Csr csr = plan.csr(d);
  PANTILE_CHECK(check_matrix("x", x, csr.cols, x.cols));
  PANTILE_CHECK(check_matrix("y", y, csr.rows, x.cols));
  PANTILE_CHECK(check_same_dtype("y", y.dtype, "x", x.dtype));
  PANTILE_CHECK(check_same_dtype("the coefficients", c.dtype, "the sums", accumulator_of(x.dtype)));
  PANTILE_CHECK(check_apart("y", y, "x", x));
  const bool wide = c.dtype == DType::f64;
  const int64_t edges = wide ? c.edge64.size() : c.edge32.size(), loops = wide ? c.self64.size() : c.self32.size();
  if (edges != csr.edges())
    return fail(ErrorCode::invalid_argument,
                fmt::format("the coefficients are of {} edges, the graph has {}", edges, csr.edges()));
  if (loops != 0 && (loops != csr.rows || csr.rows != csr.cols))
    return fail(ErrorCode::invalid_argument,
                fmt::format("the coefficients hold {} self-loops, the graph is {} x {}", loops, csr.rows, csr.cols));

  EdgeValues w;
  w.data = wide ? static_cast<const void*>(c.edge64.data()) : c.edge32.data();
  w.dtype = c.dtype;
  SpmmArgs a = spmm_args(plan, d, x, w, y);
  a.self = wide ? static_cast<const void*>(c.self64.data()) : c.self32.data();
  a.bias = bias;
  a.activation = act;
  a.slope = negative_slope;
  return run_spmm(gcn_kernel(), a);
}

}  // namespace pantile::sparse
