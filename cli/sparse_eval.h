#pragma once

#include <string>

#include "cli/verbs.h"

namespace pantile::cli {

/// `pantile sparse eval`: scores a model that `pantile sparse train` wrote, on the data set it was trained on, read
/// with the options that the file remembers.
struct SparseEvalOptions {
  std::string data;         ///< FILE.npz or OGB folder
  std::string model_file;   ///< .safetensors
  std::string predictions;  ///< .npy of int64 [nodes]; "" = not written
};
int run_sparse_eval(const SparseEvalOptions& options, const GlobalOptions& global);

}  // namespace pantile::cli
