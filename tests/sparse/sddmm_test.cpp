#include <gtest/gtest.h>
#include <pantile/core/thread_pool.h>
#include <pantile/sparse/sddmm.h>

#include "support/attention_oracle.h"
#include "support/graphs.h"

namespace pantile::test {
namespace {

using sparse::EdgeOp;
using sparse::Operand;
using sparse::Plan;
using sparse::Target;

int64_t rows_of(const Graph& g, Target t) {
  return t == Target::dst ? g.rows() : t == Target::src ? g.cols() : g.edges();
}

/// Every edge's (row, column), in CSR order.
struct EdgeEnds {
  std::vector<int64_t> row, col;
  explicit EdgeEnds(const Graph& g) {
    for (int64_t i = 0; i < g.rows(); ++i)
      for (int64_t k = g.ptr()[static_cast<size_t>(i)]; k < g.ptr()[static_cast<size_t>(i + 1)]; ++k) {
        row.push_back(i);
        col.push_back(g.col()[static_cast<size_t>(k)]);
      }
  }
  int64_t of(Target t, int64_t k) const {
    return t == Target::dst ? row[static_cast<size_t>(k)] : t == Target::src ? col[static_cast<size_t>(k)] : k;
  }
};

double combined(EdgeOp op, double l, double r) {
  switch (op) {
    case EdgeOp::add:
      return l + r;
    case EdgeOp::sub:
      return l - r;
    case EdgeOp::mul:
      return l * r;
    case EdgeOp::div:
      return l / r;
    case EdgeOp::copy_lhs:
      return l;
    default:
      return r;
  }
}

void expect_dots(const Graph& g, Target l, Target r, int64_t heads, int64_t dim, DType t, int64_t gap,
                 bool wide = false) {
  const int64_t features = heads * dim;
  const Features lhs = Features::random(t, rows_of(g, l), features, 1, gap),
                 rhs = Features::random(t, rows_of(g, r), features, 2, gap);
  Features out(wide ? accumulator_of(t) : t, g.edges(), heads, gap);
  const Status s = sparse::sddmm(Plan::of(g), EdgeOp::dot, {l, lhs.matrix()}, {r, rhs.matrix()}, heads, out.matrix());
  ASSERT_TRUE(s) << s.error().message;
  const EdgeEnds ends(g);
  for (int64_t k = 0; k < g.edges(); ++k)
    for (int64_t h = 0; h < heads; ++h) {
      double dot = 0, magnitude = 0;
      for (int64_t f = h * dim; f < (h + 1) * dim; ++f) {
        const double term = lhs(ends.of(l, k), f) * rhs(ends.of(r, k), f);
        dot += term;
        magnitude += std::abs(term);
      }
      const double bound = accumulator_epsilon(t) * (6 + 3 * std::sqrt(static_cast<double>(dim))) * magnitude +
                           1.01 * storage_epsilon(out.dtype()) * std::abs(dot) +
                           (out.dtype() == DType::f16 ? 0x1p-24 : 0);
      ASSERT_NEAR(out(k, h), dot, bound) << "edge " << k << " head " << h;
    }
  EXPECT_TRUE(out.untouched_outside());
}

TEST(Sddmm, DotMatchesTheOracleForAllHeadsAndSizes) {
  const Graph g = random_graph(41, 29, 500, 3);
  for (const int64_t heads : {1, 2, 3, 4, 8, 17})
    for (const int64_t dim : {1, 5, 8, 16, 41, 64})
      for (const DType t : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
        SCOPED_TRACE(::testing::Message() << name(t) << " heads " << heads << " dim " << dim);
        expect_dots(g, Target::dst, Target::src, heads, dim, t, 0);
      }
}

TEST(Sddmm, DotMatchesTheOracleOnEveryGraphAndStride) {
  for (const NamedGraph& g : graph_zoo()) {
    SCOPED_TRACE(g.name);
    expect_dots(g.graph, Target::dst, Target::src, 1, 33, DType::f32, 3);
    expect_dots(g.graph, Target::dst, Target::src, 4, 8, DType::f64, 0);
  }
}

TEST(Sddmm, OperandsMayLiveAnywhere) {
  const Graph g = random_graph(41, 29, 500, 3);
  for (const Target l : {Target::dst, Target::src, Target::edge})
    for (const Target r : {Target::dst, Target::src, Target::edge})
      for (const int64_t heads : {1, 2, 5}) expect_dots(g, l, r, heads, 9, DType::f32, 1);
}

TEST(Sddmm, HalfOperandsMayKeepTheirSumsInFloat) {
  const Graph g = random_graph(41, 29, 500, 3);
  expect_dots(g, Target::dst, Target::src, 2, 40, DType::bf16, 0, true);
  expect_dots(g, Target::dst, Target::src, 2, 40, DType::f16, 0, true);
}

TEST(Sddmm, WidthZeroGivesZeros) {
  expect_dots(random_graph(9, 9, 30, 2), Target::dst, Target::src, 1, 0, DType::f32, 0);
}

TEST(Sddmm, ElementwiseOperationsBroadcastOneColumnAndHeads) {
  const Graph g = random_graph(19, 23, 200, 5);
  const EdgeEnds ends(g);
  const int64_t heads = 3, dim = 5, features = heads * dim;
  for (const EdgeOp op : {EdgeOp::add, EdgeOp::sub, EdgeOp::mul, EdgeOp::div, EdgeOp::copy_lhs, EdgeOp::copy_rhs})
    for (const Target l : {Target::dst, Target::src, Target::edge})
      for (const Target r : {Target::dst, Target::src, Target::edge})
        for (const int64_t lc : {features, int64_t{1}, heads})
          for (const int64_t rc : {features, int64_t{1}, heads}) {
            const Features lhs = Features::random(DType::f32, rows_of(g, l), lc, 1, 2),
                           rhs = Features::random(DType::f32, rows_of(g, r), rc, 2, 0);
            Features out(DType::f32, g.edges(), features, 1);
            const Status s = sparse::sddmm(Plan::of(g), op, {l, lhs.matrix()}, {r, rhs.matrix()}, heads, out.matrix());
            ASSERT_TRUE(s) << s.error().message;
            const auto at = [&](int64_t cols, int64_t f) {
              return cols == features ? f : cols == 1 ? int64_t{0} : f / dim;
            };
            for (int64_t k = 0; k < g.edges(); ++k)
              for (int64_t f = 0; f < features; ++f)
                ASSERT_FLOAT_EQ(
                    static_cast<float>(out(k, f)),
                    static_cast<float>(combined(op, lhs(ends.of(l, k), at(lc, f)), rhs(ends.of(r, k), at(rc, f)))));
            EXPECT_TRUE(out.untouched_outside());
          }
}

TEST(Sddmm, BitsDoNotDependOnTheThreadCount) {
  const Graph g = hub_graph(301, 20'000, 6);
  const Features u = Features::random(DType::f32, 301, 41, 1), v = Features::random(DType::f32, 301, 41, 2);
  std::vector<unsigned char> first;
  for (const int threads : {1, 2, 4, 8}) {
    set_num_threads(threads);
    Features out(DType::f32, g.edges(), 1);
    ASSERT_TRUE(
        sparse::sddmm(Plan::of(g), EdgeOp::dot, {Target::dst, u.matrix()}, {Target::src, v.matrix()}, 1, out.matrix()));
    if (first.empty()) first = out.bytes();
    EXPECT_EQ(out.bytes(), first);
  }
  set_num_threads(0);
}

TEST(Sddmm, ADotDoesNotDependOnItsPlaceInTheRow) {
  // The same pair of rows as first, second, third ... edge of rows of different length.
  std::vector<int64_t> src, dst;
  for (int64_t i = 0; i < 9; ++i)
    for (int64_t k = 0; k <= i; ++k) {
      src.push_back(0);
      dst.push_back(i);
    }
  const Graph g = graph_of(src, dst, 9, 1);
  Features u = Features::random(DType::f32, 1, 37, 1), same(DType::f32, 9, 37);
  for (int64_t i = 0; i < 9; ++i)
    for (int64_t f = 0; f < 37; ++f) same.set(i, f, u(0, f) * 3);
  Features out(DType::f32, g.edges(), 1);
  ASSERT_TRUE(sparse::sddmm(Plan::of(g), EdgeOp::dot, {Target::dst, same.matrix()}, {Target::src, u.matrix()}, 1,
                            out.matrix()));
  for (int64_t k = 1; k < g.edges(); ++k) EXPECT_EQ(out(k, 0), out(0, 0));
}

TEST(Sddmm, ErrorsNameTheOperandAndWhatIsAllowed) {
  const Graph g = random_graph(5, 6, 10, 1);
  const Plan plan = Plan::of(g);
  Features u(DType::f32, 5, 6), v(DType::f32, 6, 6), out(DType::f32, 10, 1), wide(DType::f32, 10, 6),
      narrow(DType::f32, 6, 4);
  const auto message = [&](EdgeOp op, Operand l, Operand r, int64_t heads, Matrix o) {
    const Status s = sparse::sddmm(plan, op, l, r, heads, o);
    EXPECT_FALSE(s);
    return s ? std::string() : s.error().message;
  };
  EXPECT_EQ(message(EdgeOp::dot, {Target::src, u.matrix()}, {Target::src, v.matrix()}, 1, out.matrix()),
            "sddmm: lhs is [5, 6], expected [6, 6] (one row per source of the graph)");
  EXPECT_EQ(message(EdgeOp::dot, {Target::dst, u.matrix()}, {Target::src, v.matrix()}, 4, out.matrix()),
            "sddmm: 4 heads do not divide 6 features; pass heads that do");
  EXPECT_EQ(message(EdgeOp::add, {Target::dst, u.matrix()}, {Target::src, narrow.matrix()}, 2, wide.matrix()),
            "sddmm: rhs has 4 columns; allowed are 6 (as out), 1, or 2 (one per head)");
}

}  // namespace
}  // namespace pantile::test
