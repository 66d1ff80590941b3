#include <pantile/core/thread_pool.h>
#include <pantile/sparse/segment.h>

#include "sparse/attention_setup.h"
#include "sparse/kernels/edge_softmax.h"

namespace pantile::sparse {
namespace {

Result<EdgeSoftmax> prepare(std::string_view op, const Plan& plan, Direction d, const ConstMatrix& z,
                            std::string_view z_name, const Matrix& out, std::string_view out_name) {
  const int64_t edges = plan.graph().edges();
  EdgeSoftmax args;
  PANTILE_CHECK(check_floating(op, z_name, z.dtype));
  PANTILE_CHECK(check_matrix(z, {op, z_name, edges, z.cols, z.dtype}, "one row per edge of the graph"));
  PANTILE_CHECK(check_matrix(out, {op, out_name, edges, z.cols, z.dtype}, "as the input"));
  PANTILE_TRY(const Heads shape, check_heads(op, std::max<int64_t>(z.cols, 1), std::max<int64_t>(z.cols, 1)));
  PANTILE_TRY(args.walk, make_walk(op, plan, d, z.dtype, shape, {}));
  args.z = values_of(z);
  args.out = values_of(out);
  return args;
}

// The three steps of both operations: units, joins of hubs, segments of hubs.
void run(const Schedule& schedule, const EdgeSoftmax& args, void (*units)(const EdgeSoftmax&),
         void (*join)(const EdgeSoftmax&, const Hub&), void (*finish)(const EdgeSoftmax&, const Unit&)) {
  run_units(schedule, [&](std::span<const Unit> share) {
    EdgeSoftmax mine = args;
    mine.walk.units = share;
    units(mine);
  });
  std::vector<Unit> segments;
  for (const Unit& u : schedule.units)
    if (u.slot >= 0) segments.push_back(u);
  for (const Hub& hub : schedule.hubs) join(args, hub);
  parallel_for(static_cast<int64_t>(segments.size()), 1,
               [&](int64_t s, int64_t) { finish(args, segments[static_cast<size_t>(s)]); });
}

}  // namespace

Status edge_softmax(const Plan& plan, Direction d, ConstMatrix z, Matrix p) {
  PANTILE_TRY(EdgeSoftmax args, prepare("edge_softmax", plan, d, z, "z", p, "p"));
  if (z.cols == 0) return {};
  const Schedule& schedule = plan.schedule(d);
  const int64_t width = 2 * args.walk.shape.padded;
  PANTILE_TRY(Buffer part, make_partials(schedule, width, z.dtype));
  args.part = {part.data(), width};
  run(schedule, args, edge_softmax_units, edge_softmax_join, edge_softmax_finish);
  return {};
}

Status edge_softmax_grad(const Plan& plan, Direction d, ConstMatrix p, ConstMatrix dp, Matrix dz) {
  PANTILE_TRY(EdgeSoftmax args, prepare("edge_softmax_grad", plan, d, p, "p", dz, "dz"));
  PANTILE_CHECK(check_matrix(dp, {"edge_softmax_grad", "dp", p.rows, p.cols, p.dtype}, "as p"));
  if (p.cols == 0) return {};
  args.dp = values_of(dp);
  const Schedule& schedule = plan.schedule(d);
  const int64_t width = args.walk.shape.padded;
  PANTILE_TRY(Buffer part, make_partials(schedule, width, p.dtype));
  args.part = {part.data(), width};
  run(schedule, args, edge_softmax_grad_units, edge_softmax_grad_join, edge_softmax_grad_finish);
  return {};
}

}  // namespace pantile::sparse
