// A two-layer GCN trained in C++ on a random graph with planted blocks, against the same network without the graph.
#include <pantile/core/random.h>
#include <pantile/graph/generate.h>
#include <pantile/nn/trainer.h>

#include <cstdint>
#include <cstdio>
#include <utility>

using namespace pantile;

static Result<nn::Dataset> make_dataset() {
  PANTILE_TRY(Sbm blocks, generate_sbm({.nodes = 2000, .blocks = 4, .degree_in = 8, .degree_out = 2, .seed = 1}));
  PANTILE_TRY(auto x, nn::DenseMatrix<float>::zeros(2000, 16));
  Random random(2);
  for (int64_t node = 0; node < x.rows(); ++node) {
    for (int64_t f = 0; f < x.cols(); ++f) x(node, f) = static_cast<float>(random.normal());
    x(node, blocks.labels[node]) += 1.0F;  // a weak hint of the block
  }
  nn::Dataset data;
  data.name = "blocks";
  data.graph = blocks.graph;
  PANTILE_TRY(data.features, nn::make_features(std::move(x), 0));
  data.labels = blocks.labels;
  data.classes = 4;
  data.split =
      nn::random_split(data.labels, data.classes, {.train_per_class = 20, .validation = 500, .test = 1000, .seed = 3});
  return data;
}

static Status run() {
  PANTILE_TRY(const nn::Dataset data, make_dataset());
  PANTILE_TRY(const nn::Topology topology, nn::Topology::of(data.graph));
  for (const nn::ModelKind kind : {nn::ModelKind::mlp, nn::ModelKind::gcn}) {
    PANTILE_TRY(auto network, nn::Network<float>::make(nn::default_model(kind), topology, data.shape(), 0));
    PANTILE_TRY(const nn::TrainResult result, nn::train(network, data, nn::default_training(kind)));
    std::printf("%s: test accuracy %.3f after %d epochs\n", nn::name(kind), result.test.accuracy,
                static_cast<int>(result.best_epoch));
  }
  return {};
}

int main() {
  const Status status = run();
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
