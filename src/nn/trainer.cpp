#include <pantile/nn/trainer.h>

#include <pantile/core/thread_pool.h>
#include <pantile/nn/adam.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace pantile::nn {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Every epoch's masks are drawn apart from every other's and from those of neighbouring seeds.
uint64_t seed_of_epoch(uint64_t seed, int64_t epoch) {
  const auto words = philox4x32(seed, 0x45706f6368, static_cast<uint64_t>(epoch));
  return (uint64_t{words[0]} << 32) | words[1];
}

/// The weights of the best epoch so far.
struct Best {
  Monitor monitor;
  int64_t epoch = 0;
  NodeScore score;
  std::vector<DenseMatrix<float>> weights;

  bool beaten_by(const NodeScore& s) const {
    if (epoch == 0) return true;
    if (monitor == Monitor::loss) return s.loss != score.loss ? s.loss < score.loss : s.accuracy > score.accuracy;
    return s.accuracy != score.accuracy ? s.accuracy > score.accuracy : s.loss < score.loss;
  }
  Status keep(int64_t at, const NodeScore& s, const std::vector<Parameter<float>*>& parameters) {
    epoch = at;
    score = s;
    weights.resize(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      PANTILE_CHECK(weights[i].resize(parameters[i]->value.rows(), parameters[i]->value.cols()));
      std::copy_n(parameters[i]->value.data(), parameters[i]->value.size(), weights[i].data());
    }
    return {};
  }
  void restore(const std::vector<Parameter<float>*>& parameters) const {
    for (size_t i = 0; i < weights.size(); ++i) {
      std::copy_n(weights[i].data(), weights[i].size(), parameters[i]->value.data());
    }
  }
};

Status check_config(const TrainConfig& c, const Dataset& d) {
  if (c.epochs < 0 || c.patience < 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} epochs and patience {}: neither may be negative", c.epochs, c.patience));
  }
  if (d.split.train.empty() && d.graph.rows() > 0) {
    return fail(ErrorCode::invalid_argument, fmt::format("dataset {} has no nodes to train on", d.name));
  }
  return {};
}

double median_epoch(const std::vector<EpochRecord>& history) {
  if (history.empty()) return 0;
  std::vector<double> seconds;
  for (const EpochRecord& r : history) seconds.push_back(r.train_seconds);
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

Result<TrainResult> train(Network<float>& network, const Dataset& data, const TrainConfig& config, Progress* progress) {
  PANTILE_CHECK(check_config(config, data));
  network.decay_first_layer_only(config.decay_first_layer_only);
  const std::vector<Parameter<float>*> parameters = network.parameters();
  PANTILE_TRY(auto adam, Adam<float>::over(parameters, {config.learning_rate, config.weight_decay}));
  const Features<float> x = data.features.view();
  const bool validated = !data.split.validation.empty();

  TrainResult result;
  Best best{config.monitor, 0, {}, {}};
  DenseMatrix<float> gradient;
  const double start = now();
  if (progress != nullptr) progress->begin("training", config.epochs, "epoch");
  for (int64_t epoch = 1; epoch <= config.epochs && !result.stopped_early && !result.cancelled; ++epoch) {
    EpochRecord record{epoch};
    const double begin = now();
    PANTILE_TRY(const ConstMatrix logits, network.forward(x, {true, seed_of_epoch(config.seed, epoch)}));
    PANTILE_CHECK(gradient.resize(logits.rows, logits.cols));
    PANTILE_TRY(const NodeScore fit, cross_entropy(logits, data.labels, data.split.train, gradient.view()));
    if (!std::isfinite(fit.loss)) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("the loss of epoch {} is {}; a smaller learning rate than {} or row-normalised features may help",
                      epoch, fit.loss, config.learning_rate));
    }
    PANTILE_CHECK(network.backward(std::as_const(gradient).view()));
    adam.step();
    const double trained = now();
    NodeScore checked;
    if (validated) {
      PANTILE_TRY(const ConstMatrix scores, network.forward(x, {false, 0}));
      PANTILE_TRY(checked, score(scores, data.labels, data.split.validation));
    }
    record.train_loss = fit.loss;
    record.validation_loss = checked.loss;
    record.validation_accuracy = checked.accuracy;
    record.train_seconds = trained - begin;
    record.evaluation_seconds = now() - trained;
    result.history.push_back(record);
    if (!validated || best.beaten_by(checked)) PANTILE_CHECK(best.keep(epoch, checked, parameters));
    result.stopped_early = config.patience > 0 && epoch - best.epoch >= config.patience;
    if (progress != nullptr) {
      progress->note(fmt::format("loss {:.4f}, validation {:.2f} %", fit.loss, 100 * checked.accuracy));
      progress->advance(1);
      result.cancelled = progress->cancelled();
    }
  }
  if (progress != nullptr) progress->end();
  best.restore(parameters);
  result.best_epoch = best.epoch;
  PANTILE_TRY(const Evaluation last, evaluate(network, data));
  result.train = last.train;
  result.validation = last.validation;
  result.test = last.test;
  result.seconds = now() - start;
  result.seconds_per_epoch = median_epoch(result.history);
  return result;
}

Result<Evaluation> evaluate(Network<float>& network, const Dataset& data) {
  PANTILE_TRY(const ConstMatrix logits, network.forward(data.features.view(), {false, 0}));
  Evaluation e;
  PANTILE_TRY(e.train, score(logits, data.labels, data.split.train));
  PANTILE_TRY(e.validation, score(logits, data.labels, data.split.validation));
  PANTILE_TRY(e.test, score(logits, data.labels, data.split.test));
  e.predictions.resize(static_cast<size_t>(logits.rows));
  parallel_for(logits.rows, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* row = logits.as<float>() + i * logits.row_stride;
      e.predictions[static_cast<size_t>(i)] = std::max_element(row, row + logits.cols) - row;
    }
  });
  return e;
}

}  // namespace pantile::nn
