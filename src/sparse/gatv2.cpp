#include <pantile/sparse/attention.h>

#include "sparse/attention_setup.h"
#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

// `a` is a parameter: it may have the features' type or that of the sums.
Status check_factor(std::string_view op, std::string_view what, const ConstMatrix& a, const Gatv2Inputs& in,
                    Heads shape) {
  const DType dtype = a.dtype == in.l.dtype ? in.l.dtype : accumulator_of(in.l.dtype);
  return check_matrix(a, {op, what, shape.heads, shape.dim, dtype}, "heads, features per head");
}

Result<Heads> check_inputs(const Plan& plan, const Gatv2Inputs& in) {
  const Graph& g = plan.graph();
  PANTILE_CHECK(check_floating("gatv2", "l", in.l.dtype));
  PANTILE_TRY(const Heads shape, check_heads("gatv2", in.heads, in.l.cols));
  PANTILE_CHECK(check_matrix(in.l, {"gatv2", "l", g.cols(), in.l.cols, in.l.dtype}, "one row per source of the graph"));
  PANTILE_CHECK(
      check_matrix(in.r, {"gatv2", "r", g.rows(), in.l.cols, in.l.dtype}, "one row per destination of the graph"));
  if (in.e.data != nullptr)
    PANTILE_CHECK(check_matrix(in.e, {"gatv2", "e", g.edges(), in.l.cols, in.l.dtype}, "edges, features"));
  PANTILE_CHECK(check_factor("gatv2", "a", in.a, in, shape));
  return shape;
}

// a [H, D] of either type and any stride as acc [F].
Result<Buffer> dense_factor(const ConstMatrix& a, DType values) {
  const DType accumulator = accumulator_of(values);
  PANTILE_TRY(Buffer dense, Buffer::allocate_elements(a.rows * a.cols + kPad, size_of(accumulator)));
  for_dtype(a.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t h = 0; h < a.rows; ++h) {
      const T* row = a.as<T>() + h * a.row_stride;
      edge_ops<T>().load_values(row, static_cast<int>(a.cols), dense.as<AccumulatorOf<T>>() + h * a.cols);
    }
  });
  return dense;
}

}  // namespace

Status gatv2(const Plan& plan, const Gatv2Inputs& in, Matrix y, Matrix lse) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const int64_t rows = plan.graph().rows();
  PANTILE_CHECK(check_matrix(y, {"gatv2", "y", rows, in.l.cols, in.l.dtype}, "destinations, features"));
  PANTILE_CHECK(check_matrix(lse, {"gatv2", "lse", rows, in.heads, accumulator_of(in.l.dtype)}, "destinations, heads"));
  Gatv2Forward args;
  PANTILE_TRY(args.walk, make_walk("gatv2", plan, Direction::by_row, in.l.dtype, shape, in.dropout));
  PANTILE_TRY(const Buffer a, dense_factor(in.a, in.l.dtype));
  const Schedule& schedule = plan.schedule(Direction::by_row);
  const int64_t width = 2 * shape.padded + shape.features();
  PANTILE_TRY(Buffer part, make_partials(schedule, width, in.l.dtype));
  args.l = values_of(in.l);
  args.r = values_of(in.r);
  args.e = values_of(in.e);
  args.a = a.data();
  args.slope = in.negative_slope;
  args.out = {values_of(y), values_of(lse), {part.data(), width}};
  run_units(schedule, [&](std::span<const Unit> units) {
    Gatv2Forward share = args;
    share.walk.units = units;
    gatv2_forward(share);
  });
  join_forward(schedule, args.out, shape, in.l.dtype);
  return {};
}

Status gatv2_grad(const Plan& plan, const Gatv2Inputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                  const Gatv2Gradients& out) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const Graph& g = plan.graph();
  const int64_t features = in.l.cols;
  const DType values = in.l.dtype, sums = accumulator_of(values);
  PANTILE_CHECK(check_matrix(y, {"gatv2_grad", "y", g.rows(), features, values}, "destinations, features"));
  PANTILE_CHECK(check_matrix(dy, {"gatv2_grad", "dy", g.rows(), features, values}, "destinations, features"));
  PANTILE_CHECK(check_matrix(lse, {"gatv2_grad", "lse", g.rows(), in.heads, sums}, "destinations, heads"));
  PANTILE_CHECK(check_matrix(out.l, {"gatv2_grad", "gradient of l", g.cols(), features, values}, "sources, features"));
  PANTILE_CHECK(
      check_matrix(out.r, {"gatv2_grad", "gradient of r", g.rows(), features, values}, "destinations, features"));
  PANTILE_CHECK(check_factor("gatv2_grad", "gradient of a", out.a, in, shape));
  if (out.e.data != nullptr)
    PANTILE_CHECK(check_matrix(out.e, {"gatv2_grad", "gradient of e", g.edges(), features, values}, "edges, features"));
  PANTILE_TRY(const Buffer a, dense_factor(in.a, values));
  PANTILE_TRY(const Buffer destinations, pack_destinations(y, dy, lse, {}, shape));
  Gatv2Backward args;
  args.l = values_of(in.l);
  args.r = values_of(in.r);
  args.e = values_of(in.e);
  args.dy = values_of(dy);
  args.a = a.data();
  args.destinations = {destinations.data()};
  args.slope = in.negative_slope;

  PANTILE_TRY(args.walk, make_walk("gatv2_grad", plan, Direction::by_row, values, shape, in.dropout));
  args.d_row = values_of(out.r);
  args.d_e = values_of(out.e);
  const Schedule& rows = plan.schedule(Direction::by_row);
  PANTILE_TRY(Buffer row_part, make_partials(rows, features, values));
  PANTILE_TRY(const int64_t group_values, checked_multiply(unit_groups(rows), features));
  PANTILE_TRY(Buffer d_a, Buffer::allocate_elements(group_values, size_of(sums)));
  args.part = {row_part.data(), features};
  const int64_t group_bytes = features * static_cast<int64_t>(size_of(sums));
  run_unit_groups(rows, [&](int64_t group, std::span<const Unit> units) {
    Gatv2Backward share = args;
    share.walk.units = units;
    share.d_a = d_a.as<char>() + group * group_bytes;
    gatv2_backward_by_row(share);
  });
  const JoinTarget to_rows[] = {{0, features, args.d_row, values}};
  join_backward(rows, args.part, sums, to_rows);
  fold_groups(d_a.data(), unit_groups(rows), sums, out.a);

  PANTILE_TRY(args.walk, make_walk("gatv2_grad", plan, Direction::by_column, values, shape, in.dropout));
  args.d_row = values_of(out.l);
  args.d_e = {};
  const Schedule& columns = plan.schedule(Direction::by_column);
  PANTILE_TRY(Buffer column_part, make_partials(columns, features, values));
  args.part = {column_part.data(), features};
  run_units(columns, [&](std::span<const Unit> units) {
    Gatv2Backward share = args;
    share.walk.units = units;
    gatv2_backward_by_column(share);
  });
  const JoinTarget to_columns[] = {{0, features, args.d_row, values}};
  join_backward(columns, args.part, sums, to_columns);
  return {};
}

}  // namespace pantile::sparse
