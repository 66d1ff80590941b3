#include "support/attention_checks.h"

namespace pantile::test {
namespace {

using sparse::AttentionDropout;
using sparse::Plan;

constexpr double kSlope = 0.2;

sparse::GatInputs inputs_of(const std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout) {
  return {in[0].matrix(), in[1].matrix(), in.size() > 3 ? in[3].matrix() : ConstMatrix(), in[2].matrix(), heads,
          kSlope,         dropout};
}

Attention gat_attention(bool edge_terms) {
  Attention a;
  a.inputs = [=](const Graph& g, int64_t heads, int64_t dim) {
    std::vector<Attention::Input> in = {
        {"a_src", g.cols(), heads, true}, {"a_dst", g.rows(), heads, true}, {"v", g.cols(), heads * dim, false}};
    if (edge_terms) in.push_back({"a_edge", g.edges(), heads, true});
    return in;
  };
  a.define = [=](const Graph&, const std::vector<Table>& in, int64_t heads, int64_t dim) {
    AttentionDefinition d;
    d.heads = heads;
    d.features = heads * dim;
    d.logit = [&in, edge_terms](int64_t k, int64_t i, int64_t j, int64_t h) {
      return leaky(in[0](j, h) + in[1](i, h) + (edge_terms ? in[3](k, h) : 0), kSlope);
    };
    d.value = [&in](int64_t, int64_t j, int64_t f) { return in[2](j, f); };
    return d;
  };
  a.forward = [](const Plan& plan, std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout, Matrix y,
                 Matrix lse) { return sparse::gat(plan, inputs_of(in, heads, dropout), y, lse); };
  a.backward = [](const Plan& plan, std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout,
                  ConstMatrix y, ConstMatrix lse, ConstMatrix dy, std::vector<Features>& d) {
    return sparse::gat_grad(plan, inputs_of(in, heads, dropout), y, lse, dy,
                            {d[0].matrix(), d[1].matrix(), d.size() > 3 ? d[3].matrix() : Matrix(), d[2].matrix()});
  };
  return a;
}
Attention plain() { return gat_attention(false); }
Attention with_edges() { return gat_attention(true); }

const std::vector<int64_t> kHeads = {1, 2, 3, 4, 8, 17};
PANTILE_ATTENTION_TESTS(Gat, plain, kHeads)
PANTILE_ATTENTION_TESTS(GatWithEdgeTerms, with_edges, kHeads)

TEST(Gat, DropoutIsTheSameMaskForwardAndBackward) {
  for (const Graph& g : small_graphs(false))
    for (const int64_t heads : {1, 3, 8}) expect_gradients_match_differences(with_edges(), g, heads, 3, {0.4, 99});
  expect_matches_oracle(with_edges(), hub_graph(101, 20'000, 6), 5, 8, DType::f32, 0, {0.5, 7});
}

TEST(Gat, BitsDoNotDependOnTheThreadCount) {
  for (const int64_t heads : {1, 8}) {
    expect_same_bits_for_any_thread_count(with_edges(), hub_graph(301, 20'000, 6), heads, 8, DType::f32, {0.3, 5});
    expect_same_bits_for_any_thread_count(plain(), random_graph(997, 997, 12'000, 2), heads, 64, DType::f32, {});
    expect_same_bits_for_any_thread_count(plain(), random_graph(997, 997, 12'000, 2), heads, 5, DType::bf16, {});
  }
}

TEST(Gat, RowWithOnlyMinusInfinityIsZeroAndSoAreItsGradients) {
  const Graph g = graph_of({0, 1, 2, 0}, {0, 0, 0, 1}, 3, 3);
  std::vector<Features> in = random_inputs(with_edges(), g, 2, 4, DType::f32, 0);
  for (int64_t k = 0; k < 3; ++k) in[3].set(k, 1, -std::numeric_limits<double>::infinity());
  const AttentionRun run = run_attention(with_edges(), g, in, 2, 4, DType::f32, 0, {});
  for (int64_t f = 4; f < 8; ++f) EXPECT_EQ(run.y(0, f), 0);
  EXPECT_EQ(run.lse(0, 1), 0);
  EXPECT_NE(run.y(0, 0), 0);
  for (const Features& d : run.gradients)
    for (int64_t i = 0; i < d.rows(); ++i)
      for (int64_t j = 0; j < d.cols(); ++j) EXPECT_TRUE(std::isfinite(d(i, j)));
  EXPECT_EQ(run.gradients[1](0, 1), 0);
}

TEST(Gat, NanStaysInItsRowAndHead) {
  const Graph g = random_graph(9, 9, 60, 3);
  std::vector<Features> in = random_inputs(plain(), g, 2, 4, DType::f32, 0);
  in[1].set(4, 1, std::numeric_limits<double>::quiet_NaN());
  const Plan plan = Plan::of(g);
  Features y(DType::f32, 9, 8), lse(DType::f32, 9, 2);
  ASSERT_TRUE(plain().forward(plan, in, 2, {}, y.matrix(), lse.matrix()));
  for (int64_t i = 0; i < 9; ++i)
    for (int64_t f = 0; f < 8; ++f) EXPECT_EQ(std::isnan(y(i, f)), i == 4 && f >= 4) << i << " " << f;
  EXPECT_TRUE(std::isnan(lse(4, 1)));
  EXPECT_FALSE(std::isnan(lse(4, 0)));
}

TEST(Gat, HugeLogitsDoNotOverflow) {
  const Graph g = graph_of({0, 1}, {0, 0}, 1, 2);
  std::vector<Features> in = random_inputs(plain(), g, 1, 3, DType::f32, 0);
  in[0].set(0, 0, 1e30);
  in[0].set(1, 0, -1e30);
  const AttentionRun run = run_attention(plain(), g, in, 1, 3, DType::f32, 0, {});
  for (int64_t f = 0; f < 3; ++f) EXPECT_EQ(run.y(0, f), in[2](0, f));
}

TEST(Gat, SlopeAppliesAtZero) {
  const Graph g = graph_of({0, 1}, {0, 0}, 1, 2);
  std::vector<Features> in = random_inputs(plain(), g, 1, 2, DType::f64, 0);
  in[0].set(0, 0, 0);
  in[0].set(1, 0, 5);
  in[1].set(0, 0, 0);
  const AttentionRun run = run_attention(plain(), g, in, 1, 2, DType::f64, 0, {});
  // Both dz add up to zero before the leaky; the slope of each end shows in its own gradient.
  EXPECT_NEAR(run.gradients[0](0, 0), -kSlope * run.gradients[0](1, 0), 1e-12);
}

TEST(AttentionDropout, KeepsTheExpectedShareAndScales) {
  const Graph g = random_graph(500, 500, 40'000, 21);
  const Plan plan = Plan::of(g);
  for (const double p : {0.1, 0.5, 0.9}) {
    Table factors(g.edges(), 6);
    ASSERT_TRUE(sparse::attention_dropout_factors(plan, 6, {p, 3}, matrix_of(factors.at.data(), g.edges(), 6)));
    double kept = 0;
    for (const double f : factors.at) {
      EXPECT_TRUE(f == 0 || std::abs(f - 1 / (1 - p)) < 1e-12);
      kept += f != 0;
    }
    const double n = static_cast<double>(factors.at.size());
    EXPECT_NEAR(kept / n, 1 - p, 5 * std::sqrt(p * (1 - p) / n));
  }
}

TEST(AttentionDropout, FollowsTheCallersEdgeIdsExactly) {
  // The same edges in another order keep their masks under the caller's numbering.
  const std::vector<int64_t> src = {3, 1, 2, 0, 3, 2}, dst = {2, 2, 0, 1, 0, 3};
  const Graph g = graph_of(src, dst, 4, 4);
  Table factors(6, 3);
  ASSERT_TRUE(sparse::attention_dropout_factors(Plan::of(g), 3, {0.5, 11}, matrix_of(factors.at.data(), 6, 3)));
  for (int64_t k = 0; k < 6; ++k) {
    const auto words = philox4x32(11, 0, static_cast<uint64_t>(g.edge_id()[static_cast<size_t>(k)]));
    for (int64_t h = 0; h < 3; ++h) EXPECT_EQ(factors(k, h) != 0, words[static_cast<size_t>(h)] >= 0x80000000u);
  }
}

TEST(Gat, ErrorsNameTheMatrixAndWhatIsAllowed) {
  const Graph g = random_graph(5, 6, 10, 1);
  const Plan plan = Plan::of(g);
  std::vector<Features> in = random_inputs(plain(), g, 2, 4, DType::f32, 0);
  Features y(DType::f32, 5, 8), lse(DType::f32, 5, 2);
  const auto message = [&](sparse::GatInputs inputs, Matrix out) {
    const Status s = sparse::gat(plan, inputs, out, lse.matrix());
    EXPECT_FALSE(s);
    return s ? std::string() : s.error().message;
  };
  sparse::GatInputs inputs = inputs_of(in, 2, {});
  inputs.v.rows = 5;
  EXPECT_EQ(message(inputs, y.matrix()), "gat: v is [5, 8], expected [6, 8] (one row per source of the graph)");
  inputs = inputs_of(in, 3, {});
  EXPECT_EQ(message(inputs, y.matrix()), "gat: 3 heads do not divide 8 features; pass heads that do");
  inputs = inputs_of(in, 0, {});
  EXPECT_NE(message(inputs, y.matrix()).find("heads is 0"), std::string::npos);
  inputs = inputs_of(in, 2, {1.0, 0});
  EXPECT_NE(message(inputs, y.matrix()).find("dropout probability is 1"), std::string::npos);
  inputs = inputs_of(in, 2, {std::numeric_limits<double>::quiet_NaN(), 0});
  EXPECT_NE(message(inputs, y.matrix()).find("dropout probability is nan"), std::string::npos);
  inputs = inputs_of(in, 2, {});
  inputs.a_src.dtype = DType::bf16;
  EXPECT_EQ(message(inputs, y.matrix()), "gat: a_src is bfloat16, expected float32; convert it first");
  inputs = inputs_of(in, 2, {});
  Matrix narrow = y.matrix();
  narrow.row_stride = 3;
  EXPECT_NE(message(inputs, narrow).find("row stride of 3"), std::string::npos);
}

}  // namespace
}  // namespace pantile::test
