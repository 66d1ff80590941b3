#pragma once

#include <pantile/nn/dataset.h>
#include <pantile/nn/trainer.h>
#include <string>

#include "cli/value.h"
#include "cli/verbs.h"

namespace pantile::cli {

/// Reads the data set, records it as an input, its fingerprint as a result and its time as "read".
Result<nn::Dataset> load_training_data(const GlobalOptions& global, const std::string& path,
                                       const nn::DatasetOptions& options);

/// {"name", "nodes", "edges", ..., "split": {...}} and the same in two lines for people.
Value to_value(const nn::Dataset& data);
std::string dataset_text(const nn::Dataset& data);

Value to_value(const nn::NodeScore& score);
Value to_value(const nn::ModelConfig& config);

/// "81.50 %": two digits, because differences between seeds are of that size.
std::string accuracy_text(double accuracy);

}  // namespace pantile::cli
