#pragma once

#include <pantile/nn/dataset.h>
#include <pantile/nn/network.h>
#include <pantile/nn/trainer.h>
#include <cstdint>
#include <string>

namespace pantile::nn {

/// What a model file says of itself besides its tensors.
struct CheckpointInfo {
  ModelConfig model;
  TrainConfig training;
  uint64_t seed = 0;  ///< of the starting weights
  int64_t features = 0, classes = 0, nodes = 0, edges = 0;
  std::string dataset_name, dataset_fingerprint;  ///< the latter 32 hexadecimal digits
  DatasetOptions dataset_options;  ///< with which the data was read; normalisation is never automatic here
  std::string version;             ///< of the Pantile that wrote the file
  int64_t best_epoch = 0;
  double validation_accuracy = 0, test_accuracy = 0;

  /// The facts about `dataset` filled in.
  static CheckpointInfo of(const ModelConfig& model, const TrainConfig& training, uint64_t seed, const Dataset& dataset,
                           const DatasetOptions& options, const TrainResult& result);
};

/// Writes a .safetensors file, atomically: tensors by torch-geometric's parameter names ("convs.0.lin.weight", [out,
/// in]), the info as metadata strings that start with "pantile.".
Status save_checkpoint(const std::string& path, Network<float>& network, const CheckpointInfo& info);

/// The info alone. Errors: corrupt, naming the missing or malformed key; unsupported for a newer format.
Result<CheckpointInfo> read_checkpoint_info(const std::string& path);

/// Refuses, by name and reason, a dataset that the model was not trained on.
Status check_dataset(const CheckpointInfo& info, const Dataset& dataset);

/// Reads the file's tensors into a network made from its info. Errors: corrupt, naming the tensor that is missing,
/// unknown or of another shape.
Status load_weights(const std::string& path, Network<float>& network);

}  // namespace pantile::nn
