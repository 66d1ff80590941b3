#include <pantile/nn/network.h>
#include <set>

#include "nn/small_data.h"

namespace pantile::nn::test {
namespace {

constexpr DataShape kShape{23, 60, 6, 3, -1};

TEST(Network, ParameterNamesAreDistinctAndThoseOfTorchGeometric) {
  const auto topology = must(Topology::of(messy_graph()));
  for (const ModelKind kind : kModelKinds) {
    auto network = must(Network<float>::make(default_model(kind), topology, kShape, 1));
    std::set<std::string> names;
    for (const auto* p : network.parameters()) names.insert(p->name);
    EXPECT_EQ(names.size(), network.parameters().size()) << name(kind);
    if (kind == ModelKind::gcn) {
      EXPECT_EQ(names,
                (std::set<std::string>{"convs.0.bias", "convs.0.lin.weight", "convs.1.bias", "convs.1.lin.weight"}));
    }
    if (kind == ModelKind::gat) {
      EXPECT_TRUE(names.contains("convs.0.att_src"));
    }
  }
}

TEST(Network, LayersFollowTheConfiguration) {
  const auto topology = must(Topology::of(messy_graph()));
  ModelConfig config = default_model(ModelKind::gat);
  config.layers = 3;
  config.output_heads = 4;
  auto network = must(Network<float>::make(config, topology, kShape, 1));
  EXPECT_EQ(network.describe(),
            "Dropout(0.6)\nGATConv(6 -> 8 x 8)\nELU\nDropout(0.6)\nGATConv(64 -> 8 x 8)\nELU\nDropout(0.6)\n"
            "GATConv(64 -> 4 x 3, mean)\n");
  const auto x = random_matrix<float>(23, 6, 1);
  const auto logits = must(network.forward(Features<float>::of(x.view()), {}));
  EXPECT_EQ(logits.rows, 23);
  EXPECT_EQ(logits.cols, 3);
}

TEST(Network, TheSeedDrawsTheWeights) {
  const auto topology = must(Topology::of(messy_graph()));
  const auto first = [&](uint64_t seed) {
    auto network = must(Network<float>::make(default_model(ModelKind::gcn), topology, kShape, seed));
    return network.parameters()[0]->value(0, 0);
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(Network, DecayCanSpareAllButTheFirstLayer) {
  const auto topology = must(Topology::of(messy_graph()));
  auto network = must(Network<float>::make(default_model(ModelKind::gcn), topology, kShape, 1));
  network.decay_first_layer_only(true);
  for (const auto* p : network.parameters()) EXPECT_EQ(p->decay, p->name.starts_with("convs.0.")) << p->name;
  network.decay_first_layer_only(false);
  for (const auto* p : network.parameters()) EXPECT_TRUE(p->decay);
}

TEST(Network, EdgeWeightsAreRefusedWhereTheyWouldBeIgnored) {
  const Graph graph = messy_graph();
  const auto topology = must(Topology::of(graph, std::vector<float>(static_cast<size_t>(graph.edges()), 2.0f)));
  EXPECT_TRUE(Network<float>::make(default_model(ModelKind::gcn), topology, kShape, 1));
  const auto refused = Network<float>::make(default_model(ModelKind::gat), topology, kShape, 1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("edge_weight"), std::string::npos);
}

TEST(Network, NamesOfModelsReadBack) {
  for (const ModelKind kind : kModelKinds) EXPECT_EQ(model_from_name(name(kind)), kind);
  EXPECT_FALSE(model_from_name("GCN"));
  for (const Aggregation a : {Aggregation::mean, Aggregation::max, Aggregation::sum}) {
    EXPECT_EQ(aggregation_from_name(name(a)), a);
  }
}

TEST(Memory, WhatDoesNotFitIsRefusedWithAWidthThatFits) {
  ModelConfig config = default_model(ModelKind::gcn);
  config.hidden = 1 << 16;
  const DataShape shape{1'000'000, 10'000'000, 100, 10, -1};
  const auto refused = check_memory(config, shape, int64_t{8} << 30);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  EXPECT_NE(refused.error().message.find("a hidden width of 256 would fit"), std::string::npos)
      << refused.error().message;
  config.hidden = 256;
  EXPECT_TRUE(check_memory(config, shape, int64_t{8} << 30));
  EXPECT_TRUE(check_memory(config, shape, -1)) << "unknown memory refuses nothing";
}

TEST(Memory, SizesBeyondTheAddressSpaceAreRefusedBeforeAllocating) {
  const auto topology = must(Topology::of(messy_graph()));
  for (const ModelKind kind : kModelKinds) {
    ModelConfig config = default_model(kind);
    config.hidden = int64_t{1} << 58;
    const auto refused = Network<float>::make(config, topology, kShape, 1);
    ASSERT_FALSE(refused) << name(kind);
    EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
  }
}

TEST(Memory, EstimatesGrowWithWidthLayersAndNodes) {
  for (const ModelKind kind : kModelKinds) {
    SCOPED_TRACE(name(kind));
    ModelConfig small = default_model(kind), wide = small, deep = small;
    wide.hidden *= 4;
    deep.layers = 5;
    const DataShape shape{10000, 100000, 200, 5, -1}, larger{40000, 400000, 200, 5, -1};
    const int64_t base = must(estimate_memory(small, shape)).total();
    EXPECT_GT(must(estimate_memory(wide, shape)).total(), base);
    EXPECT_GT(must(estimate_memory(deep, shape)).total(), base);
    EXPECT_GT(must(estimate_memory(small, larger)).total(), 3 * base);
  }
}

TEST(Memory, ConfigurationsThatNoNetworkHasAreRefused) {
  const auto refused = [](auto change) {
    ModelConfig config;
    change(config);
    const auto got = estimate_memory(config, kShape);
    return !got && got.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused([](ModelConfig& c) { c.layers = 0; }));
  EXPECT_TRUE(refused([](ModelConfig& c) { c.hidden = 0; }));
  EXPECT_TRUE(refused([](ModelConfig& c) { c.heads = 0; }));
  EXPECT_TRUE(refused([](ModelConfig& c) { c.dropout = 1; }));
  EXPECT_TRUE(refused([](ModelConfig& c) { c.input_dropout = -1; }));
  EXPECT_FALSE(estimate_memory({}, {5, 5, 5, 0, -1}));
}

}  // namespace
}  // namespace pantile::nn::test
