#include "support/attention_checks.h"

namespace pantile::test {
namespace {

using sparse::AttentionDropout;
using sparse::Plan;

sparse::TransformerInputs inputs_of(const std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout) {
  return {in[0].matrix(), in[1].matrix(), in[2].matrix(), in.size() > 3 ? in[3].matrix() : ConstMatrix(),
          heads,          dropout};
}

Attention transformer_attention(bool edge_terms) {
  Attention a;
  a.inputs = [=](const Graph& g, int64_t heads, int64_t dim) {
    std::vector<Attention::Input> in = {
        {"q", g.rows(), heads * dim, false}, {"k", g.cols(), heads * dim, false}, {"v", g.cols(), heads * dim, false}};
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
        z += in[0](i, f) * (in[1](j, f) + (edge_terms ? in[3](k, f) : 0));
      return dim > 0 ? z / std::sqrt(static_cast<double>(dim)) : 0;
    };
    d.value = [&in, edge_terms](int64_t k, int64_t j, int64_t f) {
      return in[2](j, f) + (edge_terms ? in[3](k, f) : 0);
    };
    return d;
  };
  a.forward = [](const Plan& plan, std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout, Matrix y,
                 Matrix lse) { return sparse::transformer(plan, inputs_of(in, heads, dropout), y, lse); };
  a.backward = [](const Plan& plan, std::vector<Features>& in, int64_t heads, const AttentionDropout& dropout,
                  ConstMatrix y, ConstMatrix lse, ConstMatrix dy, std::vector<Features>& d) {
    return sparse::transformer_grad(
        plan, inputs_of(in, heads, dropout), y, lse, dy,
        {d[0].matrix(), d[1].matrix(), d[2].matrix(), d.size() > 3 ? d[3].matrix() : Matrix()});
  };
  return a;
}
Attention plain() { return transformer_attention(false); }
Attention with_edges() { return transformer_attention(true); }

const std::vector<int64_t> kHeads = {1, 2, 3, 8};
PANTILE_ATTENTION_TESTS(Transformer, plain, kHeads)
PANTILE_ATTENTION_TESTS(TransformerWithEdgeTerms, with_edges, kHeads)

TEST(Transformer, DropoutIsTheSameMaskForwardAndBackward) {
  for (const Graph& g : small_graphs(false))
    for (const int64_t heads : {1, 3, 8}) expect_gradients_match_differences(with_edges(), g, heads, 3, {0.4, 99});
}

TEST(Transformer, BitsDoNotDependOnTheThreadCount) {
  expect_same_bits_for_any_thread_count(with_edges(), hub_graph(301, 20'000, 6), 8, 8, DType::f32, {0.3, 5});
  expect_same_bits_for_any_thread_count(plain(), random_graph(997, 997, 12'000, 2), 1, 41, DType::f32, {});
}

TEST(Transformer, ErrorsNameTheMatrix) {
  const Graph g = random_graph(5, 6, 10, 1);
  std::vector<Features> in = random_inputs(plain(), g, 2, 4, DType::f32, 0);
  Features y(DType::f32, 5, 8), lse(DType::f32, 5, 2);
  sparse::TransformerInputs inputs = inputs_of(in, 2, {});
  inputs.q.rows = 6;
  const Status s = sparse::transformer(Plan::of(g), inputs, y.matrix(), lse.matrix());
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().message, "transformer: q is [6, 8], expected [5, 8] (one row per destination of the graph)");
}

}  // namespace
}  // namespace pantile::test
