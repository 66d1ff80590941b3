#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nn/small_data.h"

// Outputs and gradients of torch-geometric's layers, recorded by tests/support/record_nn_golden.py.
namespace pantile::nn::test {
namespace {

using nlohmann::json;

json golden() {
  std::ifstream file(std::filesystem::path(PANTILE_TESTS_DIR) / "golden" / "nn_layers.json");
  return json::parse(file);
}

Result<LayerPtr<double>> make_named(const std::string& name, const Topology& t, Random& r) {
  using sparse::Activation;
  const AttentionOptions joined{"c", 5, 3, 2, true, 0, 0, 0.2}, averaged{"c", 5, 3, 2, false, 0, 0, 0.2};
  if (name == "gcn") return make_gcn<double>(t, {"c", 5, 3, Activation::none, false}, r);
  if (name == "gcn_wide") return make_gcn<double>(t, {"c", 5, 8, Activation::none, false}, r);
  if (name == "sage_mean") return make_sage<double>(t, {"c", 5, 3, Aggregation::mean, true, false}, r);
  if (name == "sage_max") return make_sage<double>(t, {"c", 5, 3, Aggregation::max, true, false}, r);
  if (name == "sage_sum") return make_sage<double>(t, {"c", 5, 8, Aggregation::sum, true, false}, r);
  if (name == "gin") return make_gin<double>(t, {"c", 5, 4, 3, 0.25, false}, r);
  if (name == "gat_concat") return make_gat<double>(t, joined, r);
  if (name == "gat_mean") return make_gat<double>(t, averaged, r);
  if (name == "gatv2_concat") return make_gatv2<double>(t, joined, r);
  if (name == "gatv2_mean") return make_gatv2<double>(t, averaged, r);
  if (name == "transformer_concat") return make_transformer<double>(t, joined, r);
  if (name == "transformer_mean") return make_transformer<double>(t, averaged, r);
  return make_agnn<double>(t, {"c", true});
}

void expect_near(const double* got, int64_t size, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(static_cast<size_t>(size), want.size()) << what;
  for (int64_t k = 0; k < size; ++k) EXPECT_NEAR(got[k], want[static_cast<size_t>(k)], 1e-10) << what << " " << k;
}

TEST(Parity, OutputsAndGradientsAreThoseOfTorchGeometric) {
  const json file = golden();
  const int64_t nodes = file["nodes"];
  const Graph graph =
      graph_of(file["src"].get<std::vector<int64_t>>(), file["dst"].get<std::vector<int64_t>>(), nodes, nodes);
  const auto topology = must(Topology::of(graph));
  const auto x = file["x"].get<std::vector<double>>();
  ASSERT_EQ(file["cases"].size(), 13u);
  for (const auto& [name, wanted] : file["cases"].items()) {
    SCOPED_TRACE(name);
    Random random(1);
    auto layer = must(make_named(name, topology, random));
    const auto parameters = layer->parameters();
    EXPECT_EQ(parameters.size(), wanted["parameters"].size());
    for (Parameter<double>* p : parameters) {
      const std::string key = p->name.substr(2);  // without the layer's own name, "c."
      ASSERT_TRUE(wanted["parameters"].contains(key)) << key;
      const auto values = wanted["parameters"][key].get<std::vector<double>>();
      ASSERT_EQ(values.size(), static_cast<size_t>(p->value.size())) << key;
      std::copy(values.begin(), values.end(), p->value.data());
    }
    const ConstMatrix y = must(layer->forward(Features<double>::of(matrix_of(x.data(), nodes, 5)), {})).dense;
    expect_near(y.as<double>(), y.rows * y.cols, wanted["y"], "y");
    const auto dy = wanted["dy"].get<std::vector<double>>();
    const ConstMatrix dx = must(layer->backward(matrix_of(dy.data(), y.rows, y.cols), true));
    expect_near(dx.as<double>(), dx.rows * dx.cols, wanted["dx"], "dx");
    for (Parameter<double>* p : parameters) {
      expect_near(p->gradient.data(), p->gradient.size(), wanted["gradients"][p->name.substr(2)], p->name);
    }
  }
}

}  // namespace
}  // namespace pantile::nn::test
