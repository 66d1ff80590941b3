#include <pantile/sparse/attention.h>

#include "sparse/attention_setup.h"

namespace pantile::sparse {
namespace {

Result<Heads> check_inputs(const Plan& plan, const GatInputs& in) {
  const Graph& g = plan.graph();
  PANTILE_CHECK(check_floating("gat", "v", in.v.dtype));
  PANTILE_TRY(const Heads shape, check_heads("gat", in.heads, in.v.cols));
  const DType logits = accumulator_of(in.v.dtype);
  PANTILE_CHECK(check_matrix(in.v, {"gat", "v", g.cols(), in.v.cols, in.v.dtype}, "one row per source of the graph"));
  PANTILE_CHECK(check_matrix(in.a_src, {"gat", "a_src", g.cols(), in.heads, logits}, "sources, heads"));
  PANTILE_CHECK(check_matrix(in.a_dst, {"gat", "a_dst", g.rows(), in.heads, logits}, "destinations, heads"));
  if (in.a_edge.data != nullptr)
    PANTILE_CHECK(check_matrix(in.a_edge, {"gat", "a_edge", g.edges(), in.heads, logits}, "edges, heads"));
  return shape;
}

}  // namespace

Status gat(const Plan& plan, const GatInputs& in, Matrix y, Matrix lse) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const int64_t rows = plan.graph().rows();
  PANTILE_CHECK(check_matrix(y, {"gat", "y", rows, in.v.cols, in.v.dtype}, "destinations, features"));
  PANTILE_CHECK(check_matrix(lse, {"gat", "lse", rows, in.heads, accumulator_of(in.v.dtype)}, "destinations, heads"));
  GatForward args;
  PANTILE_TRY(args.walk, make_walk("gat", plan, Direction::by_row, in.v.dtype, shape, in.dropout));
  PANTILE_TRY(const PackedHeads a_src, PackedHeads::make(in.a_src, shape));
  PANTILE_TRY(const PackedHeads a_dst, PackedHeads::make(in.a_dst, shape));
  const Schedule& schedule = plan.schedule(Direction::by_row);
  const int64_t width = 2 * shape.padded + shape.features();
  PANTILE_TRY(Buffer part, make_partials(schedule, width, in.v.dtype));
  args.a_src = a_src.data();
  args.a_dst = a_dst.data();
  args.a_edge = values_of(in.a_edge);
  args.slope = in.negative_slope;
  args.v = values_of(in.v);
  args.out = {values_of(y), values_of(lse), {part.data(), width}};
  run_units(schedule, [&](std::span<const Unit> units) {
    GatForward share = args;
    share.walk.units = units;
    gat_forward(share);
  });
  join_forward(schedule, args.out, shape, in.v.dtype);
  return {};
}

Status gat_grad(const Plan& plan, const GatInputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                const GatGradients& out) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const Graph& g = plan.graph();
  const DType values = in.v.dtype, logits = accumulator_of(values);
  PANTILE_CHECK(check_matrix(y, {"gat_grad", "y", g.rows(), in.v.cols, values}, "destinations, features"));
  PANTILE_CHECK(check_matrix(dy, {"gat_grad", "dy", g.rows(), in.v.cols, values}, "destinations, features"));
  PANTILE_CHECK(check_matrix(lse, {"gat_grad", "lse", g.rows(), in.heads, logits}, "destinations, heads"));
  PANTILE_CHECK(
      check_matrix(out.a_src, {"gat_grad", "gradient of a_src", g.cols(), in.heads, logits}, "sources, heads"));
  PANTILE_CHECK(
      check_matrix(out.a_dst, {"gat_grad", "gradient of a_dst", g.rows(), in.heads, logits}, "destinations, heads"));
  PANTILE_CHECK(check_matrix(out.v, {"gat_grad", "gradient of v", g.cols(), in.v.cols, values}, "sources, features"));
  if (out.a_edge.data != nullptr)
    PANTILE_CHECK(
        check_matrix(out.a_edge, {"gat_grad", "gradient of a_edge", g.edges(), in.heads, logits}, "edges, heads"));
  PANTILE_TRY(const PackedHeads a_src, PackedHeads::make(in.a_src, shape));
  PANTILE_TRY(const Buffer destinations, pack_destinations(y, dy, lse, in.a_dst, shape));
  GatBackward args;
  args.a_src = a_src.data();
  args.destinations = {destinations.data()};
  args.a_edge = values_of(in.a_edge);
  args.v = values_of(in.v);
  args.dy = values_of(dy);
  args.slope = in.negative_slope;

  PANTILE_TRY(args.walk, make_walk("gat_grad", plan, Direction::by_row, values, shape, in.dropout));
  args.d_node = values_of(out.a_dst);
  args.d_edge = values_of(out.a_edge);
  const Schedule& rows = plan.schedule(Direction::by_row);
  PANTILE_TRY(Buffer row_part, make_partials(rows, shape.padded, values));
  args.part = {row_part.data(), shape.padded};
  run_units(rows, [&](std::span<const Unit> units) {
    GatBackward share = args;
    share.walk.units = units;
    gat_backward_by_row(share);
  });
  const JoinTarget to_rows[] = {{0, shape.heads, args.d_node, logits}};
  join_backward(rows, args.part, logits, to_rows);

  PANTILE_TRY(args.walk, make_walk("gat_grad", plan, Direction::by_column, values, shape, in.dropout));
  args.d_node = values_of(out.a_src);
  args.d_v = values_of(out.v);
  const Schedule& columns = plan.schedule(Direction::by_column);
  const int64_t width = shape.padded + shape.features();
  PANTILE_TRY(Buffer column_part, make_partials(columns, width, values));
  args.part = {column_part.data(), width};
  run_units(columns, [&](std::span<const Unit> units) {
    GatBackward share = args;
    share.walk.units = units;
    gat_backward_by_column(share);
  });
  const JoinTarget to_columns[] = {{0, shape.heads, args.d_node, logits},
                                   {shape.padded, shape.features(), args.d_v, values}};
  join_backward(columns, args.part, logits, to_columns);
  return {};
}

}  // namespace pantile::sparse
