#include <pantile/core/thread_pool.h>
#include <pantile/nn/trainer.h>
#include <cmath>
#include <cstring>

#include "nn/small_data.h"

namespace pantile::nn::test {
namespace {

ModelConfig small_model(ModelKind kind) {
  ModelConfig c = default_model(kind);
  c.hidden = 8;
  c.heads = kind == ModelKind::gcn ? 1 : 2;
  return c;
}

Network<float> network_for(const Dataset& data, const ModelConfig& config, uint64_t seed = 1) {
  return must(Network<float>::make(config, must(Topology::of(data.graph)), data.shape(), seed));
}

TEST(Trainer, EveryModelFitsATinyGraphCompletely) {
  const Dataset data = toy_dataset(60, 3, 12, 4);
  for (const ModelKind kind : kModelKinds) {
    SCOPED_TRACE(name(kind));
    ModelConfig config = small_model(kind);
    config.dropout = config.input_dropout = config.attention_dropout = 0;
    TrainConfig training;
    training.weight_decay = 0;
    training.learning_rate = 0.02;
    training.epochs = 300;
    training.patience = 0;
    auto network = network_for(data, config);
    // The last weights, not those that suit the validation nodes best: this is about fitting.
    Dataset fit = toy_dataset(60, 3, 12, 4);
    fit.split.validation.clear();
    const auto result = must(train(network, fit, training));
    EXPECT_EQ(result.train.accuracy, 1);
    EXPECT_LT(result.train.loss, 0.05);
    EXPECT_EQ(result.best_epoch, 300);
  }
}

TEST(Trainer, SagesOtherAggregationsLearnToo) {
  const Dataset data = toy_dataset(60, 3, 12, 4);
  for (const Aggregation a : {Aggregation::max, Aggregation::sum}) {
    ModelConfig config = small_model(ModelKind::sage);
    config.aggregation = a;
    auto network = network_for(data, config);
    EXPECT_GT(must(train(network, data, {})).test.accuracy, 0.8) << name(a);
  }
}

TEST(Trainer, ResultsAreBitwiseEqualForAnyThreadCount) {
  const Dataset data = toy_dataset(1500, 3, 40, 9);
  for (const ModelKind kind : kModelKinds) {
    SCOPED_TRACE(name(kind));
    std::vector<float> first;
    for (const int threads : {1, 2, 4}) {
      set_num_threads(threads);
      auto network = network_for(data, small_model(kind));
      TrainConfig training;
      training.epochs = 3;
      const auto result = must(train(network, data, training));
      std::vector<float> all{static_cast<float>(result.history.back().train_loss)};
      for (const auto* p : network.parameters()) all.insert(all.end(), p->value.span().begin(), p->value.span().end());
      if (threads == 1) first = all;
      ASSERT_EQ(all.size(), first.size());
      EXPECT_EQ(std::memcmp(all.data(), first.data(), all.size() * sizeof(float)), 0) << threads << " threads";
    }
    set_num_threads(0);
  }
}

TEST(Trainer, SeedsFixARunAndTellRunsApart) {
  const Dataset data = toy_dataset(60, 3, 12, 4);
  const auto loss = [&](uint64_t weights, uint64_t masks) {
    auto network = network_for(data, small_model(ModelKind::gat), weights);
    TrainConfig training;
    training.epochs = 5;
    training.seed = masks;
    return must(train(network, data, training)).history.back().train_loss;
  };
  EXPECT_EQ(loss(1, 1), loss(1, 1));
  EXPECT_NE(loss(1, 1), loss(2, 1));
  EXPECT_NE(loss(1, 1), loss(1, 2));
}

TEST(Trainer, TheBestWeightsAreRestored) {
  const Dataset data = toy_dataset(120, 3, 12, 4);
  for (const Monitor monitor : {Monitor::accuracy, Monitor::loss}) {
    auto network = network_for(data, small_model(ModelKind::gcn));
    TrainConfig training;
    training.epochs = 60;
    training.patience = 0;
    training.monitor = monitor;
    const auto result = must(train(network, data, training));
    const EpochRecord& best = result.history[static_cast<size_t>(result.best_epoch - 1)];
    EXPECT_EQ(result.validation.accuracy, best.validation_accuracy);
    EXPECT_EQ(result.validation.loss, best.validation_loss);
    for (const EpochRecord& r : result.history) {
      if (monitor == Monitor::accuracy) {
        EXPECT_LE(r.validation_accuracy, best.validation_accuracy);
      } else {
        EXPECT_GE(r.validation_loss, best.validation_loss);
      }
    }
  }
}

TEST(Trainer, StopsAfterPatienceEpochsWithoutProgress) {
  const Dataset data = toy_dataset(60, 3, 12, 4);
  auto network = network_for(data, small_model(ModelKind::gcn));
  TrainConfig training;
  training.epochs = 5000;
  training.patience = 10;
  const auto result = must(train(network, data, training));
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(static_cast<int64_t>(result.history.size()), result.best_epoch + 10);
}

TEST(Trainer, ZeroEpochsScoreTheStartingWeights) {
  const Dataset data = toy_dataset(60, 3, 12, 4);
  auto network = network_for(data, small_model(ModelKind::gcn));
  TrainConfig training;
  training.epochs = 0;
  const auto result = must(train(network, data, training));
  EXPECT_EQ(result.best_epoch, 0);
  EXPECT_EQ(result.train.accuracy, must(evaluate(network, data)).train.accuracy);
}

struct StopAfterThree : Progress {
  int seen = 0;
  bool ended = false;
  void begin(const std::string&, int64_t, const std::string&) override {}
  void advance(int64_t) override { ++seen; }
  void note(const std::string&) override {}
  void end() override { ended = true; }
  bool cancelled() const override { return seen >= 3; }
};

TEST(Trainer, StopsWhenAsked) {
  const Dataset data = toy_dataset(60, 3, 12, 4);
  auto network = network_for(data, small_model(ModelKind::gcn));
  StopAfterThree progress;
  const auto result = must(train(network, data, {}, &progress));
  EXPECT_TRUE(result.cancelled);
  EXPECT_TRUE(progress.ended);
  EXPECT_EQ(result.history.size(), 3u);
}

TEST(Trainer, ALossThatIsNotFiniteIsAnErrorWithItsEpoch) {
  Dataset data = toy_dataset(60, 3, 12, 4);
  data.features.dense(data.split.train[0], 3) = std::nanf("");
  ModelConfig config = small_model(ModelKind::gcn);
  config.dropout = config.input_dropout = 0;  // no mask may hide it
  auto network = network_for(data, config);
  const auto result = train(network, data, {});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("epoch 1"), std::string::npos) << result.error().message;
}

TEST(Trainer, AGraphWithoutNodesOrEdgesTrains) {
  for (const int64_t nodes : {0, 1, 7}) {
    Dataset data;
    data.name = "bare";
    data.classes = 2;
    data.graph = graph_of({}, {}, nodes, nodes);
    data.features.rows = nodes;
    data.features.width = 5;
    data.features.dense = random_matrix<float>(nodes, 5, 1);
    for (int64_t i = 0; i < nodes; ++i) {
      data.labels.push_back(i % 2);
      data.split.train.push_back(i);
    }
    for (const ModelKind kind : kModelKinds) {
      SCOPED_TRACE(name(kind));
      auto network = network_for(data, small_model(kind));
      TrainConfig training;
      training.epochs = 3;
      const auto result = must(train(network, data, training));
      EXPECT_TRUE(std::isfinite(result.train.loss));
      EXPECT_EQ(static_cast<int64_t>(must(evaluate(network, data)).predictions.size()), nodes);
    }
  }
}

TEST(Trainer, SenselessSettingsAreRefused) {
  Dataset data = toy_dataset(60, 3, 12, 4);
  auto network = network_for(data, small_model(ModelKind::gcn));
  TrainConfig training;
  training.epochs = -1;
  EXPECT_FALSE(train(network, data, training));
  training = {};
  training.learning_rate = 0;
  EXPECT_FALSE(train(network, data, training));
  data.split.train.clear();
  EXPECT_FALSE(train(network, data, {}));
}

}  // namespace
}  // namespace pantile::nn::test
