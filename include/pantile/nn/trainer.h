#pragma once

#include <pantile/core/progress.h>
#include <pantile/nn/dataset.h>
#include <pantile/nn/loss.h>
#include <pantile/nn/network.h>
#include <cstdint>
#include <functional>
#include <vector>

namespace pantile::nn {

/// What the best epoch is best at on the validation nodes; ties are decided by the other.
enum class Monitor { accuracy, loss };
const char* name(Monitor m);
std::optional<Monitor> monitor_from_name(std::string_view name);

struct TrainConfig {
  int64_t epochs = 200;
  double learning_rate = 0.01, weight_decay = 5e-4;
  bool decay_first_layer_only = false;
  int64_t patience = 100;  ///< epochs without a better validation result before training stops; 0 = never
  Monitor monitor = Monitor::accuracy;
  uint64_t seed = 0;  ///< of the dropout masks
};
/// Hyper-parameters of the paper or of torch-geometric's example of that model on citation graphs.
TrainConfig default_training(ModelKind kind);

struct EpochRecord {
  int64_t epoch = 0;  ///< from 1
  double train_loss = 0, validation_loss = 0, validation_accuracy = 0;
  double train_seconds = 0, evaluation_seconds = 0;  ///< wall time: forward + backward + update; forward + scores
};

/// Scores are those of the restored best weights, without dropout.
struct TrainResult {
  std::vector<EpochRecord> history;
  int64_t best_epoch = 0;  ///< 0 when no epoch ran: the starting weights
  bool stopped_early = false, cancelled = false;
  NodeScore train, validation, test;
  double seconds = 0;            ///< all of training
  double seconds_per_epoch = 0;  ///< median of train_seconds; 0 when no epoch ran
};

/// Trains `network` on the dataset's training nodes with Adam and leaves it with the weights of the best epoch. Without
/// validation nodes the last epoch is the best one and nothing stops early. Bitwise equal for any thread count.
/// progress may be null; its cancelled() ends training after the current epoch, with the best weights so far.
/// Errors: invalid_argument (configuration, no training nodes, a loss that is not finite: with the epoch),
/// out_of_memory.
Result<TrainResult> train(Network<float>& network, const Dataset& dataset, const TrainConfig& config,
                          Progress* progress = nullptr);

struct Evaluation {
  NodeScore train, validation, test;
  std::vector<int64_t> predictions;  ///< [nodes] class of the largest logit, the first of equals
};
/// One forward pass without dropout.
Result<Evaluation> evaluate(Network<float>& network, const Dataset& dataset);

}  // namespace pantile::nn
