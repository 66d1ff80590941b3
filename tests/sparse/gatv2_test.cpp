#include "support/attention_checks.h"

namespace pantile::test {
namespace {

using sparse::AttentionDropout;
using sparse::Plan;

constexpr double kSlope = 0.3;

sparse::Gatv2Inputs inputs_of(const std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout) {
  return {in[0].matrix(), in[1].matrix(), in.size() > 3 ? in[3].matrix() : ConstMatrix(), in[2].matrix(), heads,
          kSlope,         dropout};
}

Attention gatv2_attention(bool edge_terms) {
  Attention a;
  a.inputs = [=](const Graph& g, int64_t heads, int64_t dim) {
    std::vector<Attention::Input> in = {
        {"l", g.cols(), heads * dim, false}, {"r", g.rows(), heads * dim, false}, {"a", heads, dim, false}};
    if (edge_terms) in.push_back({"e", g.edges(), heads * dim, false});
    return in;
  };
  a.define = [=](const Graph&, const std::vector<Table>& in, int64_t heads, int64_t dim) {
    AttentionDefinition d;
    d.heads = heads;
    d.features = heads * dim;
    d.logit = [&in, edge_terms, dim](int64_t k, int64_t i, int64_t j, int64_t h) {
      double z = 0;
      for (int64_t f = h * dim; f < (h + 1) * dim; ++f)
        z += in[2](h, f - h * dim) * leaky(in[0](j, f) + in[1](i, f) + (edge_terms ? in[3](k, f) : 0), kSlope);
      return z;
    };
    d.value = [&in](int64_t, int64_t j, int64_t f) { return in[0](j, f); };
    return d;
  };
  a.forward = [](const Plan& plan, std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout, Matrix y,
                 Matrix lse) { return sparse::gatv2(plan, inputs_of(in, heads, dropout), y, lse); };
  a.backward = [](const Plan& plan, std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout,
                  ConstMatrix y, ConstMatrix lse, ConstMatrix dy, std::vector<Features>& d) {
    return sparse::gatv2_grad(plan, inputs_of(in, heads, dropout), y, lse, dy,
                              {d[0].matrix(), d[1].matrix(), d.size() > 3 ? d[3].matrix() : Matrix(), d[2].matrix()});
  };
  return a;
}
Attention plain() { return gatv2_attention(false); }
Attention with_edges() { return gatv2_attention(true); }

const std::vector<int64_t> kHeads = {1, 2, 3, 8};
PANTILE_ATTENTION_TESTS(Gatv2, plain, kHeads)
PANTILE_ATTENTION_TESTS(Gatv2WithEdgeTerms, with_edges, kHeads)

TEST(Gatv2, DropoutIsTheSameMaskForwardAndBackward) {
  for (const Graph& g : small_graphs(false))
    for (const int64_t heads : {1, 3, 8}) expect_gradients_match_differences(with_edges(), g, heads, 3, {0.4, 99});
}

TEST(Gatv2, BitsDoNotDependOnTheThreadCount) {
  expect_same_bits_for_any_thread_count(with_edges(), hub_graph(301, 20'000, 6), 8, 8, DType::f32, {0.3, 5});
  expect_same_bits_for_any_thread_count(plain(), random_graph(997, 997, 12'000, 2), 1, 41, DType::f32, {});
}

TEST(Gatv2, ParameterMayHaveTheAccumulatorTypeOfHalfFeatures) {
  const Graph g = random_graph(13, 13, 60, 2);
  std::vector<Features> half = random_inputs(plain(), g, 2, 4, DType::bf16, 0), mixed = half;
  mixed[2] = Features(DType::f32, 2, 4);
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t d = 0; d < 4; ++d) mixed[2].set(h, d, half[2](h, d));
  const AttentionRun a = run_attention(plain(), g, half, 2, 4, DType::bf16, 0, {});
  const AttentionRun b = run_attention(plain(), g, mixed, 2, 4, DType::bf16, 0, {});
  EXPECT_EQ(a.y.bytes(), b.y.bytes());
  EXPECT_LE(distance(a.gradients[2], b.gradients[2], 2, 4), 1e-2);
}

TEST(Gatv2, ErrorsNameTheMatrix) {
  const Graph g = random_graph(5, 6, 10, 1);
  std::vector<Features> in = random_inputs(plain(), g, 2, 4, DType::f32, 0);
  Features y(DType::f32, 5, 8), lse(DType::f32, 5, 2);
  sparse::Gatv2Inputs inputs = inputs_of(in, 2, {});
  inputs.a.cols = 8;
  const Status s = sparse::gatv2(Plan::of(g), inputs, y.matrix(), lse.matrix());
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().message, "gatv2: a is [2, 8], expected [2, 4] (heads, features per head)");
}

}  // namespace
}  // namespace pantile::test
