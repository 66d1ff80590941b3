#include <gtest/gtest.h>

#include <pantile/sparse/gcn.h>
#include <cmath>
#include <limits>

#include "support/graphs.h"
#include "support/oracle.h"

namespace pantile::sparse {
namespace {

using test::Expected;
using test::Features;
using test::graph_of;
using test::Values;

/// The definition, edge by edge, with the loops spelt out. Weights of all but the last loop of a node are dropped, as
/// PyG does.
Expected gcn_oracle(const Graph& g, GcnNorm norm, double loop, const Features& x, const Values* w,
                    const std::vector<double>* bias, Activation act, double slope) {
  const int64_t n = g.rows(), width = x.cols();
  struct Edge {
    int64_t i, j;
    double w;
  };
  std::vector<Edge> edges;
  for (int64_t i = 0; i < n; ++i) {
    int64_t own = -1;
    for (int64_t k = g.ptr()[size_t(i)]; k < g.ptr()[size_t(i + 1)]; ++k)
      if (g.col()[size_t(k)] == i) own = k;
    for (int64_t k = g.ptr()[size_t(i)]; k < g.ptr()[size_t(i + 1)]; ++k) {
      const int64_t j = g.col()[size_t(k)];
      const double weight = w == nullptr ? 1 : (*w)(k, 0);
      edges.push_back({i, j, loop != 0 && j == i && k != own ? 0 : weight});
    }
    if (loop != 0 && own == -1) edges.push_back({i, i, loop});
  }
  std::vector<double> in(size_t(n), 0), out(size_t(g.cols()), 0), weight(size_t(n), 0);
  for (const Edge& e : edges) {
    in[size_t(e.i)] += 1;
    out[size_t(e.j)] += 1;
    weight[size_t(e.i)] += e.w;
  }
  Expected y(n, width);
  for (const Edge& e : edges) {
    const double a = std::max(1.0, in[size_t(e.i)]), b = std::max(1.0, out[size_t(e.j)]);
    double c = e.w;
    if (norm == GcnNorm::both) c /= std::sqrt(a) * std::sqrt(b);
    if (norm == GcnNorm::left) c /= b;
    if (norm == GcnNorm::right) c /= a;
    if (norm == GcnNorm::pyg) {
      const auto s = [&](int64_t v) { return weight[size_t(v)] == 0 ? 0 : 1 / std::sqrt(weight[size_t(v)]); };
      c *= s(e.i) * s(e.j);
    }
    for (int64_t f = 0; f < width; ++f) y.add(e.i, f, c * x(e.j, f));
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t f = 0; f < width; ++f) {
      if (bias != nullptr) y.add(i, f, (*bias)[size_t(f)]);
      double& v = y.value[size_t(i * width + f)];
      if (act == Activation::relu) v = std::max(v, 0.0);
      if (act == Activation::leaky_relu && v < 0) v *= slope;
      if (act == Activation::elu && v < 0) v = std::expm1(v);
    }
  return y;
}

TEST(Gcn, WholeLayerMatchesItsDefinitionOnEveryGraph) {
  for (const auto& [name, g] : test::graph_zoo()) {
    if (!g.square()) continue;
    for (const DType t : {DType::f32, DType::f64, DType::bf16, DType::f16})
      for (const int64_t width : {1, 7, 16, 41})
        for (const GcnNorm norm : {GcnNorm::pyg, GcnNorm::both, GcnNorm::left, GcnNorm::right, GcnNorm::none})
          for (const double loop : {0.0, 1.0, 2.5}) {
            Values w(t, g.edges(), 1, 31);
            for (int64_t k = 0; k < g.edges(); ++k) w.set(k, 0, std::abs(w(k, 0)));
            const bool weighted = width != 16;
            const auto activation = static_cast<Activation>((width + static_cast<int64_t>(loop)) % 4);
            const Features x = Features::random(t, g.cols(), width, 32, 3);
            Features y(t, g.rows(), width, 1);
            const Values bias_values(t, width, 1, 33);
            std::vector<double> bias;
            for (int64_t f = 0; f < width; ++f) bias.push_back(bias_values(f, 0));
            const Plan plan = Plan::of(g);
            const auto c = gcn_coefficients(
                plan, norm, loop, weighted ? EdgeValues{w.data(), w.dtype(), 1} : EdgeValues{}, accumulator_of(t));
            ASSERT_TRUE(c) << c.error().message;
            ASSERT_TRUE(gcn(plan, Direction::by_row, **c, x.matrix(), bias_values.data(), activation, 0.2, y.matrix()));
            Expected want = gcn_oracle(g, norm, loop, x, weighted ? &w : nullptr, &bias, activation, 0.2);
            for (int64_t& n : want.terms) n += 60;  // coefficients are rounded too
            EXPECT_EQ(test::first_difference(want, y), "")
                << name << ", " << pantile::name(t) << ", width " << width << ", norm " << int(norm) << ", loop "
                << loop << ", act " << int(activation);
            EXPECT_TRUE(y.untouched_outside());
          }
  }
}

TEST(Gcn, TransposedLayerIsTheAdjoint) {
  const Graph g = test::random_graph(60, 60, 500, 5);
  const Plan plan = Plan::of(g);
  const auto c = gcn_coefficients(plan, GcnNorm::pyg, 1, {}, DType::f64);
  ASSERT_TRUE(c);
  const Features x = Features::random(DType::f64, 60, 5, 1), u = Features::random(DType::f64, 60, 5, 2);
  Features ax(DType::f64, 60, 5), atu(DType::f64, 60, 5);
  ASSERT_TRUE(gcn(plan, Direction::by_row, **c, x.matrix(), nullptr, Activation::none, 0, ax.matrix()));
  ASSERT_TRUE(gcn(plan, Direction::by_column, **c, u.matrix(), nullptr, Activation::none, 0, atu.matrix()));
  double left = 0, right = 0;
  for (int64_t i = 0; i < 60; ++i)
    for (int64_t f = 0; f < 5; ++f) {
      left += ax(i, f) * u(i, f);
      right += x(i, f) * atu(i, f);
    }
  EXPECT_NEAR(left, right, 1e-12);
}

TEST(Gcn, NaNPassesEveryActivation) {
  const Graph g = graph_of({0}, {1}, 2, 2);
  const Plan plan = Plan::of(g);
  const auto c = gcn_coefficients(plan, GcnNorm::none, 0, {}, DType::f32);
  const std::vector<float> x(8, std::numeric_limits<float>::quiet_NaN());
  for (const Activation act : {Activation::none, Activation::relu, Activation::elu, Activation::leaky_relu}) {
    std::vector<float> y(8);
    ASSERT_TRUE(
        gcn(plan, Direction::by_row, **c, matrix_of(x.data(), 2, 4), nullptr, act, 0.1, matrix_of(y.data(), 2, 4)));
    EXPECT_EQ(y[0], 0);
    EXPECT_TRUE(std::isnan(y[4]));
  }
}

TEST(GcnCoefficients, OfUnweightedGraphsAreMadeOnce) {
  const Plan plan = Plan::of(test::random_graph(30, 30, 100, 5));
  const auto a = gcn_coefficients(plan, GcnNorm::pyg, 1, {}, DType::f32),
             b = gcn_coefficients(plan, GcnNorm::pyg, 1, {}, DType::f32);
  EXPECT_EQ(a->get(), b->get());
  EXPECT_NE(a->get(), gcn_coefficients(plan, GcnNorm::pyg, 0, {}, DType::f32)->get());
  EXPECT_NE(a->get(), gcn_coefficients(plan, GcnNorm::both, 1, {}, DType::f32)->get());
  const std::vector<float> w(100, 1);
  EXPECT_NE(gcn_coefficients(plan, GcnNorm::pyg, 1, {w.data()}, DType::f32)->get(), a->get());
}

TEST(GcnCoefficients, RefuseWhatHasNoMeaning) {
  const Plan bipartite = Plan::of(test::random_graph(3, 4, 5, 1));
  EXPECT_EQ(gcn_coefficients(bipartite, GcnNorm::pyg, 0, {}, DType::f32).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(gcn_coefficients(bipartite, GcnNorm::both, 1, {}, DType::f32).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(gcn_coefficients(bipartite, GcnNorm::both, 0, {}, DType::f32));
  EXPECT_EQ(gcn_coefficients(bipartite, GcnNorm::none, 0, {}, DType::bf16).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(gcn_coefficients(bipartite, GcnNorm::none, std::nan(""), {}, DType::f32).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace pantile::sparse
