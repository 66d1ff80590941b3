#include <cmath>

#include "nn/small_data.h"

namespace pantile::nn::test {
namespace {

/// sum of c * y: a loss whose gradient to y is c.
double weighted_sum(ConstMatrix y, const DenseMatrix<double>& c) {
  double sum = 0;
  for (int64_t i = 0; i < y.rows; ++i) {
    for (int64_t j = 0; j < y.cols; ++j) sum += y.as<double>()[i * y.row_stride + j] * c(i, j);
  }
  return sum;
}

/// Central differences of the loss to `value`, against `gradient`, element by element.
void expect_gradient(double* value, double gradient, const std::function<double()>& loss, const std::string& where) {
  constexpr double kStep = 1e-6;
  const double at = *value;
  *value = at + kStep;
  const double above = loss();
  *value = at - kStep;
  const double below = loss();
  *value = at;
  const double numeric = (above - below) / (2 * kStep);
  EXPECT_NEAR(gradient, numeric, 2e-7 * std::max(1.0, std::abs(numeric))) << where;
}

void check_layer(const LayerCase& c, const Graph& graph, const Pass& pass) {
  SCOPED_TRACE(c.name);
  const auto topology = must(Topology::of(graph));
  Random random(11);
  auto layer = must(c.make(topology, random));
  auto x = random_matrix<double>(graph.rows(), c.in, 21);
  const auto forward = [&] { return must(layer->forward(Features<double>::of(std::as_const(x).view()), pass)).dense; };
  const ConstMatrix y = forward();
  const auto weights = random_matrix<double>(y.rows, y.cols, 31);
  const ConstMatrix dx = must(layer->backward(weights.view(), true));
  // The next forward pass overwrites what backward returned and the gradients stay in the parameters: copy the former.
  std::vector<double> input_gradient(dx.as<double>(), dx.as<double>() + dx.rows * dx.cols);
  const auto loss = [&] { return weighted_sum(forward(), weights); };
  ASSERT_EQ(static_cast<int64_t>(input_gradient.size()), x.size());
  for (int64_t k = 0; k < x.size(); ++k) {
    expect_gradient(x.data() + k, input_gradient[static_cast<size_t>(k)], loss, "x " + std::to_string(k));
  }
  for (Parameter<double>* p : layer->parameters()) {
    for (int64_t k = 0; k < p->value.size(); ++k) {
      expect_gradient(p->value.data() + k, p->gradient.data()[k], loss, p->name + " " + std::to_string(k));
    }
  }
}

TEST(Gradient, EveryLayerMatchesFiniteDifferences) {
  for (const LayerCase& c : layer_cases()) check_layer(c, messy_graph(), {false, 0});
}

TEST(Gradient, EveryLayerMatchesFiniteDifferencesUnderDropout) {
  for (const LayerCase& c : layer_cases()) check_layer(c, messy_graph(), {true, 77});
}

TEST(Gradient, NodesWithoutAnyEdgeHaveRightGradients) {
  for (const LayerCase& c : layer_cases()) check_layer(c, graph_of({}, {}, 4, 4), {false, 0});
}

TEST(Gradient, SkippingTheInputGradientLeavesParameterGradientsAsTheyAre) {
  for (const LayerCase& c : layer_cases()) {
    SCOPED_TRACE(c.name);
    const auto topology = must(Topology::of(messy_graph()));
    Random random(11);
    auto layer = must(c.make(topology, random));
    const auto x = random_matrix<double>(topology.nodes(), c.in, 21);
    const auto y = must(layer->forward(Features<double>::of(x.view()), {false, 0}));
    const auto weights = random_matrix<double>(y.rows, y.width, 31);
    std::vector<std::vector<double>> with;
    must(layer->backward(weights.view(), true));
    for (auto* p : layer->parameters()) with.emplace_back(p->gradient.span().begin(), p->gradient.span().end());
    for (auto* p : layer->parameters()) p->gradient.fill(std::nan(""));
    must(layer->backward(weights.view(), false));
    for (size_t i = 0; i < with.size(); ++i) {
      const auto without = layer->parameters()[i]->gradient.span();
      EXPECT_TRUE(std::equal(without.begin(), without.end(), with[i].begin())) << layer->parameters()[i]->name;
    }
  }
}

TEST(Gradient, CompressedFeaturesGiveWhatTheSameDenseFeaturesGive) {
  for (const LayerCase& c : layer_cases()) {
    if (!c.takes_compressed) continue;
    SCOPED_TRACE(c.name);
    const auto topology = must(Topology::of(messy_graph()));
    const auto rows = random_rows<double>(topology.nodes(), c.in, 40, 3);
    DenseMatrix<double> dense;
    ASSERT_TRUE(densify(rows.view(), dense));
    Random random_a(11), random_b(11);
    auto a = must(c.make(topology, random_a)), b = must(c.make(topology, random_b));
    const auto ya = must(a->forward(rows.view(), {false, 0})).dense;
    const auto yb = must(b->forward(Features<double>::of(std::as_const(dense).view()), {false, 0})).dense;
    ASSERT_EQ(ya.cols, yb.cols);
    for (int64_t k = 0; k < ya.rows * ya.cols; ++k) EXPECT_NEAR(ya.as<double>()[k], yb.as<double>()[k], 1e-12);
    const auto weights = random_matrix<double>(ya.rows, ya.cols, 31);
    must(a->backward(weights.view(), false));
    must(b->backward(weights.view(), false));
    for (size_t i = 0; i < a->parameters().size(); ++i) {
      const auto ga = a->parameters()[i]->gradient.span(), gb = b->parameters()[i]->gradient.span();
      for (size_t k = 0; k < ga.size(); ++k) EXPECT_NEAR(ga[k], gb[k], 1e-11) << a->parameters()[i]->name;
    }
  }
}

TEST(Gradient, KeptAggregatesChangeNothing) {
  const auto topology = must(Topology::of(messy_graph()));
  const auto x = random_matrix<double>(topology.nodes(), 6, 21);
  const auto weights = random_matrix<double>(topology.nodes(), 3, 31);
  const auto gradients = [&](bool keep, int kind) {
    Random random(11);
    auto layer = kind == 0   ? must(make_gcn<double>(topology, {"c", 6, 3, sparse::Activation::relu, keep}, random))
                 : kind == 1 ? must(make_sage<double>(topology, {"c", 6, 3, Aggregation::mean, true, keep}, random))
                             : must(make_gin<double>(topology, {"c", 6, 4, 3, 0, keep}, random));
    std::vector<double> all;
    for (int pass = 0; pass < 2; ++pass) {  // the second pass uses what the first one kept
      must(layer->forward(Features<double>::of(x.view(), true), {true, 1}));
      must(layer->backward(weights.view(), false));
    }
    for (auto* p : layer->parameters()) all.insert(all.end(), p->gradient.span().begin(), p->gradient.span().end());
    return all;
  };
  for (int kind = 0; kind < 3; ++kind) {
    const auto with = gradients(true, kind), without = gradients(false, kind);
    ASSERT_EQ(with.size(), without.size());
    for (size_t k = 0; k < with.size(); ++k) EXPECT_NEAR(with[k], without[k], 1e-11) << kind;
  }
}

TEST(Gradient, EdgeWeightsReachTheGcnLayer) {
  const Graph graph = messy_graph();
  std::vector<float> weights;
  for (int64_t k = 0; k < graph.edges(); ++k) weights.push_back(0.25f + 0.5f * static_cast<float>(k % 7));
  const auto plain = must(Topology::of(graph)), weighted = must(Topology::of(graph, weights));
  const auto x = random_matrix<double>(graph.rows(), 6, 21);
  Random a(11), b(11);
  auto first = must(make_gcn<double>(plain, {"c", 6, 3, sparse::Activation::none, false}, a));
  auto second = must(make_gcn<double>(weighted, {"c", 6, 3, sparse::Activation::none, false}, b));
  const auto y1 = must(first->forward(Features<double>::of(x.view()), {})).dense;
  const auto y2 = must(second->forward(Features<double>::of(x.view()), {})).dense;
  double difference = 0;
  for (int64_t k = 0; k < y1.rows * y1.cols; ++k) difference += std::abs(y1.as<double>()[k] - y2.as<double>()[k]);
  EXPECT_GT(difference, 1e-3);
}

TEST(Layer, RefusesAnotherWidthByName) {
  const auto topology = must(Topology::of(messy_graph()));
  Random random(1);
  auto layer = must(make_gcn<double>(topology, {"c", 6, 3, sparse::Activation::none, false}, random));
  const auto x = random_matrix<double>(topology.nodes(), 5, 1);
  const auto y = layer->forward(Features<double>::of(x.view()), {});
  ASSERT_FALSE(y);
  EXPECT_EQ(y.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(y.error().message.find("[23, 5]"), std::string::npos) << y.error().message;
}

TEST(Layer, RectangularGraphsAndBadWeightsAreRefused) {
  EXPECT_FALSE(Topology::of(random_graph(3, 4, 5, 1)));
  EXPECT_FALSE(Topology::of(messy_graph(), {1.0f}));
  std::vector<float> weights(static_cast<size_t>(messy_graph().edges()), 1.0f);
  weights[3] = std::nanf("");
  const auto bad = Topology::of(messy_graph(), weights);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("edge 3"), std::string::npos);
}

}  // namespace
}  // namespace pantile::nn::test
