#include <gtest/gtest.h>
#include <pantile/core/thread_pool.h>
#include <pantile/sparse/segment.h>

#include "support/attention_oracle.h"
#include "support/graphs.h"

namespace pantile::test {
namespace {

using sparse::Direction;
using sparse::Plan;

/// CSR positions of the edges of every group: rows, or columns.
std::vector<std::vector<int64_t>> groups_of(const Graph& g, Direction d) {
  std::vector<std::vector<int64_t>> groups(static_cast<size_t>(d == Direction::by_row ? g.rows() : g.cols()));
  for (int64_t i = 0; i < g.rows(); ++i)
    for (int64_t k = g.ptr()[static_cast<size_t>(i)]; k < g.ptr()[static_cast<size_t>(i + 1)]; ++k)
      groups[static_cast<size_t>(d == Direction::by_row ? i : g.col()[static_cast<size_t>(k)])].push_back(k);
  return groups;
}

Table softmax_oracle(const Graph& g, Direction d, const Features& z) {
  Table p(z.rows(), z.cols());
  for (const auto& group : groups_of(g, d))
    for (int64_t h = 0; h < z.cols(); ++h) {
      double m = -std::numeric_limits<double>::infinity(), s = 0;
      for (const int64_t k : group) m = std::max(m, z(k, h));
      if (m == -std::numeric_limits<double>::infinity()) continue;
      for (const int64_t k : group) s += std::exp(z(k, h) - m);
      for (const int64_t k : group) p(k, h) = std::exp(z(k, h) - m) / s;
    }
  return p;
}
Table gradient_oracle(const Graph& g, Direction d, const Features& p, const Features& dp) {
  Table dz(p.rows(), p.cols());
  for (const auto& group : groups_of(g, d))
    for (int64_t h = 0; h < p.cols(); ++h) {
      double sum = 0;
      for (const int64_t k : group) sum += p(k, h) * dp(k, h);
      for (const int64_t k : group) dz(k, h) = p(k, h) * (dp(k, h) - sum);
    }
  return dz;
}

void expect_softmax(const Graph& g, Direction d, int64_t heads, DType t, int64_t gap) {
  Features z = Features::random(t, g.edges(), heads, 1, gap);
  for (int64_t k = 0; k < g.edges(); ++k)
    for (int64_t h = 0; h < heads; ++h) z.set(k, h, 6 * z(k, h));
  Features p(t, g.edges(), heads, gap), dz(t, g.edges(), heads, gap);
  const Plan plan = Plan::of(g);
  const Status forward = sparse::edge_softmax(plan, d, z.matrix(), p.matrix());
  ASSERT_TRUE(forward) << forward.error().message;
  EXPECT_LE(distance(p, softmax_oracle(g, d, z), g.edges(), heads), attention_tolerance(t));
  EXPECT_TRUE(p.untouched_outside());
  const Features dp = Features::random(t, g.edges(), heads, 2, gap);
  const Status backward = sparse::edge_softmax_grad(plan, d, p.matrix(), dp.matrix(), dz.matrix());
  ASSERT_TRUE(backward) << backward.error().message;
  EXPECT_LE(distance(dz, gradient_oracle(g, d, p, dp), g.edges(), heads), attention_tolerance(t));
  EXPECT_TRUE(dz.untouched_outside());
}

TEST(EdgeSoftmax, MatchesTheOracleOnEveryGraphBothWays) {
  for (const NamedGraph& g : graph_zoo())
    for (const Direction d : {Direction::by_row, Direction::by_column})
      for (const int64_t heads : {1, 2, 3, 8, 17}) {
        SCOPED_TRACE(::testing::Message() << g.name << " heads " << heads);
        expect_softmax(g.graph, d, heads, DType::f32, 0);
        expect_softmax(g.graph, d, heads, DType::f64, 2);
      }
}

TEST(EdgeSoftmax, HalfPrecisionIsComputedInFloat) {
  for (const DType t : {DType::bf16, DType::f16})
    for (const int64_t heads : {1, 3, 8}) expect_softmax(random_graph(17, 17, 300, 1), Direction::by_row, heads, t, 1);
}

TEST(EdgeSoftmax, RowOfMinusInfinityIsZero) {
  const Graph g = graph_of({0, 1, 2, 3}, {0, 0, 0, 1}, 2, 4);
  Features z(DType::f32, 4, 1), p(DType::f32, 4, 1);
  for (int64_t k = 0; k < 3; ++k) z.set(k, 0, -std::numeric_limits<double>::infinity());
  z.set(3, 0, 2);
  ASSERT_TRUE(sparse::edge_softmax(Plan::of(g), Direction::by_row, z.matrix(), p.matrix()));
  for (int64_t k = 0; k < 3; ++k) EXPECT_EQ(p(k, 0), 0);
  EXPECT_EQ(p(3, 0), 1);
}

TEST(EdgeSoftmax, NanStaysInItsRowAndHead) {
  const Graph g = graph_of({0, 1, 2, 3, 0}, {0, 0, 0, 1, 1}, 2, 4);
  Features z = Features::random(DType::f32, 5, 2, 1), p(DType::f32, 5, 2);
  z.set(1, 0, std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(sparse::edge_softmax(Plan::of(g), Direction::by_row, z.matrix(), p.matrix()));
  for (int64_t k = 0; k < 5; ++k) {
    EXPECT_EQ(std::isnan(p(k, 0)), k < 3) << k;
    EXPECT_FALSE(std::isnan(p(k, 1)));
  }
}

TEST(EdgeSoftmax, FloatExponentialIsWithinTwoUnits) {
  // Rows of two edges, one at 0: p = 1 / (1 + exp(z)) and its partner exp(z) / (1 + exp(z)) pin exp over its range.
  std::vector<int64_t> src, dst;
  const int64_t rows = 4000;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < 2; ++k) {
      src.push_back(k);
      dst.push_back(i);
    }
  const Graph g = graph_of(src, dst, rows, 2);
  Features z(DType::f32, 2 * rows, 1), p(DType::f32, 2 * rows, 1);
  for (int64_t i = 0; i < rows; ++i) {
    z.set(2 * i, 0, 0);
    z.set(2 * i + 1, 0, -85.0 * static_cast<double>(i) / static_cast<double>(rows));
  }
  ASSERT_TRUE(sparse::edge_softmax(Plan::of(g), Direction::by_row, z.matrix(), p.matrix()));
  for (int64_t i = 0; i < rows; ++i) {
    const double e = std::exp(z(2 * i + 1, 0));
    EXPECT_NEAR(p(2 * i + 1, 0) / (e / (1 + e)), 1, 4.5 * 0x1p-23);
  }
}

TEST(EdgeSoftmax, BitsDoNotDependOnTheThreadCount) {
  const Graph g = hub_graph(301, 20'000, 6);
  const Features z = Features::random(DType::f32, g.edges(), 3, 1);
  for (const Direction d : {Direction::by_row, Direction::by_column}) {
    std::vector<unsigned char> first;
    for (const int threads : {1, 2, 4, 8}) {
      set_num_threads(threads);
      Features p(DType::f32, g.edges(), 3);
      ASSERT_TRUE(sparse::edge_softmax(Plan::of(g), d, z.matrix(), p.matrix()));
      if (first.empty()) first = p.bytes();
      EXPECT_EQ(p.bytes(), first);
    }
  }
  set_num_threads(0);
}

TEST(EdgeSoftmax, ErrorsNameTheMatrix) {
  const Graph g = random_graph(5, 6, 10, 1);
  Features z(DType::f32, 9, 2), p(DType::f32, 10, 2);
  const Status s = sparse::edge_softmax(Plan::of(g), Direction::by_row, z.matrix(), p.matrix());
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().message, "edge_softmax: z is [9, 2], expected [10, 2] (one row per edge of the graph)");
}

}  // namespace
}  // namespace pantile::test
