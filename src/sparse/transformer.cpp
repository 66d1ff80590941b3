#include <pantile/sparse/attention.h>

#include "sparse/attention_setup.h"

namespace pantile::sparse {
namespace {

Result<Heads> check_inputs(const Plan& plan, const TransformerInputs& in) {
  const Graph& g = plan.graph();
  const int64_t features = in.v.cols;
  const DType dtype = in.v.dtype;
  PANTILE_CHECK(check_floating("transformer", "v", dtype));
  PANTILE_TRY(const Heads shape, check_heads("transformer", in.heads, features));
  PANTILE_CHECK(
      check_matrix(in.q, {"transformer", "q", g.rows(), features, dtype}, "one row per destination of the graph"));
  PANTILE_CHECK(check_matrix(in.k, {"transformer", "k", g.cols(), features, dtype}, "one row per source of the graph"));
  PANTILE_CHECK(check_matrix(in.v, {"transformer", "v", g.cols(), features, dtype}, "one row per source of the graph"));
  if (in.e.data != nullptr)
    PANTILE_CHECK(check_matrix(in.e, {"transformer", "e", g.edges(), features, dtype}, "edges, features"));
  return shape;
}

}  // namespace

Status transformer(const Plan& plan, const TransformerInputs& in, Matrix y, Matrix lse) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const int64_t rows = plan.graph().rows();
  const DType values = in.v.dtype;
  PANTILE_CHECK(check_matrix(y, {"transformer", "y", rows, in.v.cols, values}, "destinations, features"));
  PANTILE_CHECK(
      check_matrix(lse, {"transformer", "lse", rows, in.heads, accumulator_of(values)}, "destinations, heads"));
  TransformerForward args;
  PANTILE_TRY(args.walk, make_walk("transformer", plan, Direction::by_row, values, shape, in.dropout));
  const Schedule& schedule = plan.schedule(Direction::by_row);
  const int64_t width = 2 * shape.padded + shape.features();
  PANTILE_TRY(Buffer part, make_partials(schedule, width, values));
  args.q = values_of(in.q);
  args.k = values_of(in.k);
  args.v = values_of(in.v);
  args.e = values_of(in.e);
  args.out = {values_of(y), values_of(lse), {part.data(), width}};
  run_units(schedule, [&](std::span<const Unit> units) {
    TransformerForward share = args;
    share.walk.units = units;
    transformer_forward(share);
  });
  join_forward(schedule, args.out, shape, values);
  return {};
}

Status transformer_grad(const Plan& plan, const TransformerInputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                        const TransformerGradients& out) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const Graph& g = plan.graph();
  const int64_t features = in.v.cols;
  const DType values = in.v.dtype, sums = accumulator_of(values);
  constexpr std::string_view kOp = "transformer_grad";
  PANTILE_CHECK(check_matrix(y, {kOp, "y", g.rows(), features, values}, "destinations, features"));
  PANTILE_CHECK(check_matrix(dy, {kOp, "dy", g.rows(), features, values}, "destinations, features"));
  PANTILE_CHECK(check_matrix(lse, {kOp, "lse", g.rows(), in.heads, sums}, "destinations, heads"));
  PANTILE_CHECK(check_matrix(out.q, {kOp, "gradient of q", g.rows(), features, values}, "destinations, features"));
  PANTILE_CHECK(check_matrix(out.k, {kOp, "gradient of k", g.cols(), features, values}, "sources, features"));
  PANTILE_CHECK(check_matrix(out.v, {kOp, "gradient of v", g.cols(), features, values}, "sources, features"));
  if (out.e.data != nullptr)
    PANTILE_CHECK(check_matrix(out.e, {kOp, "gradient of e", g.edges(), features, values}, "edges, features"));
  PANTILE_TRY(const Buffer destinations, pack_destinations(y, dy, lse, {}, shape));
  TransformerBackward args;
  args.q = values_of(in.q);
  args.k = values_of(in.k);
  args.v = values_of(in.v);
  args.e = values_of(in.e);
  args.dy = values_of(dy);
  args.destinations = {destinations.data()};
  args.d_q = values_of(out.q);
  args.d_e = values_of(out.e);
  args.d_k = values_of(out.k);
  args.d_v = values_of(out.v);

  PANTILE_TRY(args.walk, make_walk(kOp, plan, Direction::by_row, values, shape, in.dropout));
  const Schedule& rows = plan.schedule(Direction::by_row);
  PANTILE_TRY(Buffer row_part, make_partials(rows, features, values));
  args.part = {row_part.data(), features};
  run_units(rows, [&](std::span<const Unit> units) {
    TransformerBackward share = args;
    share.walk.units = units;
    transformer_backward_by_row(share);
  });
  const JoinTarget to_rows[] = {{0, features, args.d_q, values}};
  join_backward(rows, args.part, sums, to_rows);

  PANTILE_TRY(args.walk, make_walk(kOp, plan, Direction::by_column, values, shape, in.dropout));
  const Schedule& columns = plan.schedule(Direction::by_column);
  PANTILE_TRY(Buffer column_part, make_partials(columns, 2 * features, values));
  args.part = {column_part.data(), 2 * features};
  run_units(columns, [&](std::span<const Unit> units) {
    TransformerBackward share = args;
    share.walk.units = units;
    transformer_backward_by_column(share);
  });
  const JoinTarget to_columns[] = {{0, features, args.d_k, values}, {features, features, args.d_v, values}};
  join_backward(columns, args.part, sums, to_columns);
  return {};
}

}  // namespace pantile::sparse
