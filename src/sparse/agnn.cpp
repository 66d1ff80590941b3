#include <pantile/core/thread_pool.h>
#include <pantile/sparse/attention.h>

#include <cmath>

#include "sparse/attention_setup.h"
#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

Result<Heads> check_inputs(const Plan& plan, const AgnnInputs& in) {
  const Graph& g = plan.graph();
  PANTILE_CHECK(check_floating("agnn", "x", in.x.dtype));
  if (!g.square())
    return fail(ErrorCode::invalid_argument, "agnn: the graph has " + std::to_string(g.rows()) + " destinations and " +
                                                 std::to_string(g.cols()) +
                                                 " sources; it must be square, x serves both ends");
  PANTILE_CHECK(check_matrix(in.x, {"agnn", "x", g.rows(), in.x.cols, in.x.dtype}, "one row per node"));
  return check_heads("agnn", 1, in.x.cols);
}

template <class T>
void inverse_norms(const ConstMatrix& x, Heads shape, AccumulatorOf<T>* out) {
  using A = AccumulatorOf<T>;
  parallel_for(x.rows, kChunk, [&](int64_t begin, int64_t end) {
    A squares[kChunk + 2 * kPad];
    int64_t at[kChunk];
    const int n = static_cast<int>(end - begin);
    for (int k = 0; k < n; ++k) at[k] = (begin + k) * x.row_stride;
    edge_ops<T>().dot_pairs({x.as<T>(), at}, {x.as<T>(), at}, n, shape, squares, Ahead());
    for (int k = 0; k < n; ++k) out[begin + k] = 1 / std::max(std::sqrt(squares[k]), static_cast<A>(kSmallestNorm));
  });
}
Result<Buffer> make_inverse_norms(const ConstMatrix& x, Heads shape) {
  PANTILE_TRY(Buffer norms, Buffer::allocate_elements(x.rows, size_of(accumulator_of(x.dtype))));
  for_dtype(x.dtype, [&](auto t) {
    using T = decltype(t);
    inverse_norms<T>(x, shape, norms.as<AccumulatorOf<T>>());
  });
  return norms;
}

}  // namespace

Status agnn(const Plan& plan, const AgnnInputs& in, Matrix y, Matrix lse) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const int64_t rows = plan.graph().rows();
  const DType values = in.x.dtype;
  PANTILE_CHECK(check_matrix(y, {"agnn", "y", rows, in.x.cols, values}, "nodes, features"));
  PANTILE_CHECK(check_matrix(lse, {"agnn", "lse", rows, 1, accumulator_of(values)}, "nodes, one"));
  AgnnForward args;
  PANTILE_TRY(args.walk, make_walk("agnn", plan, Direction::by_row, values, shape, {}));
  PANTILE_TRY(const Buffer norms, make_inverse_norms(in.x, shape));
  const Schedule& schedule = plan.schedule(Direction::by_row);
  const int64_t width = 2 * shape.padded + shape.features();
  PANTILE_TRY(Buffer part, make_partials(schedule, width, values));
  args.x = values_of(in.x);
  args.inverse_norm = norms.data();
  args.beta = in.beta;
  args.out = {values_of(y), values_of(lse), {part.data(), width}};
  run_units(schedule, [&](std::span<const Unit> units) {
    AgnnForward share = args;
    share.walk.units = units;
    agnn_forward(share);
  });
  join_forward(schedule, args.out, shape, values);
  return {};
}

Status agnn_grad(const Plan& plan, const AgnnInputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                 const AgnnGradients& out) {
  PANTILE_TRY(const Heads shape, check_inputs(plan, in));
  const int64_t nodes = plan.graph().rows(), features = in.x.cols;
  const DType values = in.x.dtype, sums = accumulator_of(values);
  PANTILE_CHECK(check_matrix(y, {"agnn_grad", "y", nodes, features, values}, "nodes, features"));
  PANTILE_CHECK(check_matrix(dy, {"agnn_grad", "dy", nodes, features, values}, "nodes, features"));
  PANTILE_CHECK(check_matrix(lse, {"agnn_grad", "lse", nodes, 1, sums}, "nodes, one"));
  PANTILE_CHECK(check_matrix(out.x, {"agnn_grad", "gradient of x", nodes, features, values}, "nodes, features"));
  PANTILE_TRY(const Buffer norms, make_inverse_norms(in.x, shape));
  PANTILE_TRY(const Buffer destinations, pack_destinations(y, dy, lse, {}, shape));
  PANTILE_TRY(const int64_t unit_values, checked_multiply(nodes, features));
  PANTILE_TRY(Buffer d_unit, Buffer::allocate_elements(unit_values, size_of(sums)));
  AgnnBackward args;
  args.x = values_of(in.x);
  args.dy = values_of(dy);
  args.inverse_norm = norms.data();
  args.beta = in.beta;
  args.destinations = {destinations.data()};
  args.d_unit = d_unit.data();
  args.d_x = values_of(out.x);

  PANTILE_TRY(args.walk, make_walk("agnn_grad", plan, Direction::by_row, values, shape, {}));
  const Schedule& rows = plan.schedule(Direction::by_row);
  PANTILE_TRY(Buffer row_part, make_partials(rows, features, values));
  args.part = {row_part.data(), features};
  std::vector<double> d_beta(static_cast<size_t>(unit_groups(rows)));
  run_unit_groups(rows, [&](int64_t group, std::span<const Unit> units) {
    AgnnBackward share = args;
    share.walk.units = units;
    share.d_beta = &d_beta[static_cast<size_t>(group)];
    agnn_backward_by_row(share);
  });
  const JoinTarget to_rows[] = {{0, features, {d_unit.data(), features}, sums}};
  join_backward(rows, args.part, sums, to_rows);
  if (out.beta != nullptr) {
    *out.beta = 0;
    for (const double part : d_beta) *out.beta += part;
  }

  PANTILE_TRY(args.walk, make_walk("agnn_grad", plan, Direction::by_column, values, shape, {}));
  const Schedule& columns = plan.schedule(Direction::by_column);
  PANTILE_TRY(Buffer column_part, make_partials(columns, 2 * features, values));
  args.part = {column_part.data(), 2 * features};
  run_units(columns, [&](std::span<const Unit> units) {
    AgnnBackward share = args;
    share.walk.units = units;
    agnn_backward_by_column(share);
  });
  parallel_for(static_cast<int64_t>(columns.hubs.size()), 1,
               [&](int64_t hub, int64_t) { agnn_join_columns(args, columns.hubs[static_cast<size_t>(hub)]); });
  return {};
}

}  // namespace pantile::sparse
