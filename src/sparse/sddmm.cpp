#include <fmt/format.h>
#include <pantile/sparse/sddmm.h>

#include "sparse/attention_setup.h"
#include "sparse/kernels/sddmm.h"

namespace pantile::sparse {
namespace {

int64_t rows_of(const Graph& g, Target target) {
  switch (target) {
    case Target::dst:
      return g.rows();
    case Target::src:
      return g.cols();
    case Target::edge:
      return g.edges();
  }
  return 0;
}
std::string_view words_of(Target target) {
  switch (target) {
    case Target::dst:
      return "one row per destination of the graph";
    case Target::src:
      return "one row per source of the graph";
    case Target::edge:
      return "one row per edge of the graph";
  }
  return "";
}

Status check_operand(const Graph& g, std::string_view operand, const Operand& o, int64_t cols, DType dtype) {
  return check_matrix(o.values, {"sddmm", operand, rows_of(g, o.target), cols, dtype}, words_of(o.target));
}
// Elementwise operands have all columns, one, or one per head.
Status check_broadcast(const Graph& g, std::string_view operand, const Operand& o, int64_t heads, int64_t features,
                       DType dtype) {
  const int64_t cols = o.values.cols;
  if (cols != features && cols != 1 && cols != heads)
    return fail(ErrorCode::invalid_argument,
                fmt::format("sddmm: {} has {} columns; allowed are {} (as out), 1, or {} (one per head)", operand, cols,
                            features, heads));
  return check_operand(g, operand, o, cols, dtype);
}

}  // namespace

Status sddmm(const Plan& plan, EdgeOp op, Operand lhs, Operand rhs, int64_t heads, Matrix out) {
  const Graph& g = plan.graph();
  const bool uses_lhs = op != EdgeOp::copy_rhs, uses_rhs = op != EdgeOp::copy_lhs;
  const DType dtype = uses_lhs ? lhs.values.dtype : rhs.values.dtype;
  PANTILE_CHECK(check_floating("sddmm", uses_lhs ? "lhs" : "rhs", dtype));
  SddmmArgs args;
  if (op == EdgeOp::dot) {
    const int64_t features = lhs.values.cols;
    PANTILE_TRY(args.shape, check_heads("sddmm", heads, features));
    PANTILE_CHECK(check_operand(g, "lhs", lhs, features, dtype));
    PANTILE_CHECK(check_operand(g, "rhs", rhs, features, dtype));
    const bool wide = out.dtype == accumulator_of(dtype);
    PANTILE_CHECK(check_matrix(out, {"sddmm", "out", g.edges(), heads, wide ? out.dtype : dtype}, "edges, heads"));
  } else {
    PANTILE_TRY(args.shape, check_heads("sddmm", heads, out.cols));
    PANTILE_CHECK(check_matrix(out, {"sddmm", "out", g.edges(), out.cols, dtype}, "edges, features"));
    if (uses_lhs) PANTILE_CHECK(check_broadcast(g, "lhs", lhs, heads, out.cols, dtype));
    if (uses_rhs) PANTILE_CHECK(check_broadcast(g, "rhs", rhs, heads, out.cols, dtype));
  }
  args.csr = plan.csr(Direction::by_row);
  args.dtype = dtype;
  args.op = op;
  args.lhs = {lhs.target, values_of(lhs.values), lhs.values.cols};
  args.rhs = {rhs.target, values_of(rhs.values), rhs.values.cols};
  args.out = values_of(out);
  args.wide_out = out.dtype == accumulator_of(dtype);
  run_units(plan.schedule(Direction::by_row), [&](std::span<const Unit> units) {
    SddmmArgs share = args;
    share.units = units;
    sddmm_units(share);
  });
  return {};
}

}  // namespace pantile::sparse
