#pragma once

#include <pantile/core/buffer.h>
#include <pantile/nn/dataset.h>
#include <pantile/nn/dense_matrix.h>
#include <optional>
#include <string>
#include <vector>

namespace pantile::nn {

/// What a reader of one format found, before anything is judged: assemble() in dataset.cpp validates all formats alike.
struct RawDataset {
  std::string name, path;
  std::string where;  ///< puts "x of cora.npz" into errors
  std::vector<int64_t> src, dst;
  std::vector<float> edge_weights;  ///< [edges] or empty
  DenseMatrix<float> features;      ///< [nodes, width]; its rows are the node count
  std::vector<int64_t> labels;      ///< [nodes], negative = unlabelled
  std::optional<NodeSplit> split;
};

Result<RawDataset> read_npz_dataset(const std::string& path);
Result<RawDataset> read_ogb_dataset(const std::string& path);

}  // namespace pantile::nn
