#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck/gtest.h>

#include <pantile/core/cpu.h>
#include <pantile/sparse/spmm.h>

#include "support/graphs.h"
#include "support/oracle.h"

namespace pantile::sparse {
namespace {

using test::Expected;
using test::Features;
using test::first_difference;
using test::Values;

constexpr DType kStorage[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
constexpr Reduce kReductions[] = {Reduce::sum, Reduce::mean, Reduce::min, Reduce::max};

/// Every spmm operator on one graph at one width, against straight loops in double.
void check_all(const Graph& g, DType t, int64_t width, int64_t heads, bool weighted, uint64_t seed,
               const std::string& where) {
  SCOPED_TRACE(where + ", " + std::string(name(t)) + ", width " + std::to_string(width) + ", heads " +
               std::to_string(heads) + (weighted ? ", weighted" : ""));
  const Plan plan = Plan::of(g);
  const Values values(t, g.edges(), heads, seed);
  const Values* w = weighted ? &values : nullptr;
  const EdgeValues edge = weighted ? EdgeValues{values.data(), values.dtype(), heads} : EdgeValues{};
  const Features x = Features::random(t, g.cols(), width, seed + 1, 3),
                 dy = Features::random(t, g.rows(), width, seed + 2, 1);
  for (const Reduce reduce : kReductions) {
    SCOPED_TRACE("reduction " + std::to_string(int(reduce)));
    Features y(t, g.rows(), width, 2), z(t, g.cols(), width), dx(t, g.cols(), width, 1);
    const Expected want = spmm_oracle(g, Direction::by_row, reduce, x, w);
    ASSERT_TRUE(spmm(plan, Direction::by_row, reduce, x.matrix(), edge, y.matrix()));
    EXPECT_EQ(first_difference(want, y), "");
    EXPECT_TRUE(y.untouched_outside());
    ASSERT_TRUE(spmm(plan, Direction::by_column, reduce, dy.matrix(), edge, z.matrix()));
    EXPECT_EQ(first_difference(spmm_oracle(g, Direction::by_column, reduce, dy, w), z), "") << "by column";
    EXPECT_TRUE(z.untouched_outside());

    std::vector<int64_t> arg(static_cast<size_t>(g.rows() * width), -7);
    const bool extreme = reduce == Reduce::min || reduce == Reduce::max;
    if (extreme) {
      Features again(t, g.rows(), width, 2);
      ASSERT_TRUE(spmm_arg(plan, reduce, x.matrix(), edge, again.matrix(), arg.data()));
      EXPECT_EQ(first_difference(want, again), "") << "with arg";
      // Products are compared as rounded to the accumulator, so of nearly equal ones another may win than in double.
      for (size_t at = 0; at < arg.size(); ++at) {
        if (arg[at] == want.arg[at]) continue;
        const int64_t i = static_cast<int64_t>(at) / width, f = static_cast<int64_t>(at) % width, k = arg[at];
        ASSERT_TRUE(k >= g.ptr()[size_t(i)] && k < g.ptr()[size_t(i + 1)]) << "arg of row " << i;
        const double v = test::weight_of(w, k, f, width) * x(g.col()[size_t(k)], f);
        ASSERT_TRUE(v != want.value[at] || weighted) << "a tie went to a later edge";
        EXPECT_NEAR(v, want.value[at], 4 * test::accumulator_epsilon(t) * std::abs(v));
      }
    }
    const auto status = spmm_grad_x(plan, reduce, edge, dy.matrix(), extreme ? arg.data() : nullptr, dx.matrix());
    ASSERT_TRUE(status) << status.error().message;
    Expected want_x = spmm_grad_x_oracle(g, reduce, dy, w, arg.data());
    for (int64_t& n : want_x.terms)
      n *= n;  // parallel edges add the same number over and over: their errors do not cancel
    EXPECT_EQ(first_difference(want_x, dx), "") << "gradient to x";
    EXPECT_TRUE(dx.untouched_outside());
    if (width == 0) continue;
    const DType kind = accumulator_of(t);
    Features dw(kind, g.edges(), heads);
    const auto grad_w =
        spmm_grad_w(plan, reduce, x.matrix(), dy.matrix(), extreme ? arg.data() : nullptr, heads, dw.matrix().data);
    ASSERT_TRUE(grad_w) << grad_w.error().message;
    Expected want_w = spmm_grad_w_oracle(g, reduce, x, dy, heads, arg.data());
    for (int64_t& n : want_w.terms) n += 4;
    EXPECT_EQ(first_difference(want_w, dw), "") << "gradient to w";
  }
}

TEST(SpmmEquivalence, EveryWidthOnEveryGraph) {
  for (const auto& [name, g] : test::graph_zoo())
    for (const int64_t width : {0, 1, 3, 7, 8, 16, 33, 41, 64, 100, 128, 129, 257}) {
      if (g.edges() > 10'000 && width > 41) continue;  // the oracle's time
      check_all(g, DType::f32, width, 1, width % 2 == 1, 1, name);
    }
}

TEST(SpmmEquivalence, EveryStorageTypeOnEveryGraph) {
  for (const auto& [name, g] : test::graph_zoo())
    for (const DType t : kStorage)
      for (const int64_t width : {1, 5, 8, 10, 16, 26, 31, 67}) {
        if (g.edges() > 10'000 && width > 8) continue;
        check_all(g, t, width, 1, width != 16, 2, name);
      }
}

TEST(SpmmEquivalence, HeadsFewerAndMoreThanLanes) {
  const auto zoo = test::graph_zoo();
  for (const DType t : kStorage)
    for (const auto& [heads, dim] :
         {std::pair{2, 1}, {2, 8}, {3, 5}, {4, 16}, {8, 8}, {8, 1}, {9, 1}, {12, 3}, {17, 2}, {20, 7}})
      for (const size_t at : {size_t{6}, size_t{7}, size_t{9}, size_t{12}})
        check_all(zoo[at].graph, t, heads * dim, heads, true, 3, zoo[at].name);
}

TEST(SpmmEquivalence, EveryInstructionSetThatThisMachineHas) {
  // SSE4 is not compiled, so asking for it gives the baseline.
  const int64_t best = hwy::SupportedTargets();
  for (const int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4}) {
    if ((best & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    for (const auto& [name, g] : test::graph_zoo()) {
      if (g.edges() > 10'000) continue;
      for (const DType t : kStorage)
        for (const int64_t width : {1, 7, 8, 10, 33})
          check_all(g, t, width, 1, width > 1, 4, name + " on " + hwy::TargetName(target));
      check_all(g, DType::f32, 24, 3, true, 5, name + " on " + hwy::TargetName(target));
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

RC_GTEST_PROP(SpmmEquivalence, RandomGraphsWithDuplicatesLoopsAndIsolatedNodes, ()) {
  const auto rows = *rc::gen::inRange<int64_t>(1, 40), cols = *rc::gen::inRange<int64_t>(1, 40),
             edges = *rc::gen::inRange<int64_t>(0, 200);
  const auto heads = *rc::gen::inRange<int64_t>(1, 5), dim = *rc::gen::inRange<int64_t>(1, 20);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  check_all(test::random_graph(rows, cols, edges, seed),
            *rc::gen::elementOf(std::vector<DType>(std::begin(kStorage), std::end(kStorage))), heads * dim, heads,
            *rc::gen::arbitrary<bool>(), seed + 1, "random graph");
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace pantile::sparse
