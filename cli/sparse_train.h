#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/verbs.h"

namespace pantile::cli {

/// `pantile sparse train`: trains a network on one graph, without torch. What is not given is the model's default
/// (nn::default_model, nn::default_training).
struct SparseTrainOptions {
  std::string data;           ///< FILE.npz or OGB folder; see nn::load_dataset
  std::string model = "gcn";  ///< gcn, sage, gin, gat, gatv2, agnn, transformer, mlp
  std::optional<int64_t> hidden, layers, heads, output_heads, epochs, patience;
  std::optional<double> learning_rate, weight_decay, dropout, input_dropout, attention_dropout;
  std::string aggregation = "mean";     ///< of sage: mean, max, sum
  std::string monitor = "accuracy";     ///< what the best epoch is best at on validation nodes: accuracy, loss
  std::string normalise = "automatic";  ///< automatic, rows, none
  bool undirected = false;              ///< add the reverse of every edge
  uint64_t split_seed = 0;              ///< for data without a split of its own
  int64_t train_per_class = 20, validation_nodes = 500, test_nodes = 1000;
  int64_t seeds = 1;  ///< runs with the seeds seed, seed + 1, ...: mean and spread
  std::string out;    ///< .safetensors of the run with the best validation accuracy; "" = not written
};
int run_sparse_train(const SparseTrainOptions& options, const GlobalOptions& global);

}  // namespace pantile::cli
