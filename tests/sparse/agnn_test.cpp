#include "support/attention_checks.h"

namespace pantile::test {
namespace {

using sparse::AttentionDropout;
using sparse::Plan;

// beta travels as a 1 x 1 matrix so that its gradient is checked like the others.
Attention agnn_attention() {
  Attention a;
  a.square_only = true;
  a.inputs = [](const Graph& g, int64_t heads, int64_t dim) {
    return std::vector<Attention::Input>{{"x", g.rows(), heads * dim, false}, {"beta", 1, 1, true}};
  };
  a.define = [](const Graph&, const std::vector<Table>& in, int64_t heads, int64_t dim) {
    AttentionDefinition d;
    d.heads = heads;
    d.features = heads * dim;
    d.logit = [&in](int64_t, int64_t i, int64_t j, int64_t) {
      double dot = 0, ni = 0, nj = 0;
      for (int64_t f = 0; f < in[0].cols; ++f) {
        dot += in[0](i, f) * in[0](j, f);
        ni += in[0](i, f) * in[0](i, f);
        nj += in[0](j, f) * in[0](j, f);
      }
      return in[1](0, 0) * dot / (std::max(std::sqrt(ni), 1e-12) * std::max(std::sqrt(nj), 1e-12));
    };
    d.value = [&in](int64_t, int64_t j, int64_t f) { return in[0](j, f); };
    return d;
  };
  a.forward = [](const Plan& plan, std::vector<Features>& in, int64_t, const AttentionDropout&, Matrix y, Matrix lse) {
    return sparse::agnn(plan, {in[0].matrix(), in[1](0, 0)}, y, lse);
  };
  a.backward = [](const Plan& plan, std::vector<Features>& in, int64_t, const AttentionDropout&, ConstMatrix y,
                  ConstMatrix lse, ConstMatrix dy, std::vector<Features>& d) {
    double beta = 0;
    const Status s = sparse::agnn_grad(plan, {in[0].matrix(), in[1](0, 0)}, y, lse, dy, {d[0].matrix(), &beta});
    d[1].set(0, 0, beta);
    return s;
  };
  return a;
}

const std::vector<int64_t> kHeads = {1};
PANTILE_ATTENTION_TESTS(Agnn, agnn_attention, kHeads)

TEST(Agnn, BitsDoNotDependOnTheThreadCount) {
  expect_same_bits_for_any_thread_count(agnn_attention(), hub_graph(301, 20'000, 6), 1, 41, DType::f32, {});
  expect_same_bits_for_any_thread_count(agnn_attention(), random_graph(997, 997, 12'000, 2), 1, 64, DType::f64, {});
}

TEST(Agnn, ZeroVectorsAreClampedNotDividedBy) {
  const Graph g = graph_of({0, 1, 1}, {0, 0, 1}, 2, 2);
  std::vector<Features> in = random_inputs(agnn_attention(), g, 1, 3, DType::f32, 0);
  for (int64_t f = 0; f < 3; ++f) in[0].set(0, f, 0);
  const AttentionRun run = run_attention(agnn_attention(), g, in, 1, 3, DType::f32, 0, {});
  for (int64_t f = 0; f < 3; ++f) {
    EXPECT_NEAR(run.y(0, f), in[0](1, f) / 2, 1e-6);
    EXPECT_TRUE(std::isfinite(run.gradients[0](0, f)));
    EXPECT_TRUE(std::isfinite(run.gradients[0](1, f)));
  }
}

TEST(Agnn, BipartiteGraphIsRefused) {
  const Graph g = random_graph(5, 6, 10, 1);
  Features x(DType::f32, 5, 4), y(DType::f32, 5, 4), lse(DType::f32, 5, 1);
  const Status s = sparse::agnn(Plan::of(g), {x.matrix(), 1}, y.matrix(), lse.matrix());
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().message,
            "agnn: the graph has 5 destinations and 6 sources; it must be square, x serves both ends");
}

}  // namespace
}  // namespace pantile::test
