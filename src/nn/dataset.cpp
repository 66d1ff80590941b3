#include <pantile/nn/dataset.h>

#include <pantile/io/file.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "nn/raw_dataset.h"

namespace pantile::nn {
namespace {

constexpr int64_t kMostClasses = 1 << 20;

Status check_features(const RawDataset& raw) {
  const DenseMatrix<float>& x = raw.features;
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < x.cols(); ++j) {
      if (std::isfinite(x(i, j))) continue;
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: feature {} of node {} is {}; features must be finite", raw.path, j, i, x(i, j)));
    }
  }
  return {};
}

Result<int64_t> count_classes(RawDataset& raw) {
  int64_t classes = 0;
  for (size_t i = 0; i < raw.labels.size(); ++i) {
    const int64_t label = raw.labels[i];
    if (label < -1 || label >= kMostClasses) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("{}: label {} of node {} is outside [0, {}) (-1 means unlabelled)", raw.path, label, i,
                              kMostClasses));
    }
    classes = std::max(classes, label + 1);
  }
  if (classes == 0 && !raw.labels.empty()) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: no node has a label", raw.path));
  }
  return std::max<int64_t>(classes, 1);  // a graph without nodes still has a network, with one output
}

/// Sorts the parts; each node may be in one part, once, with a label.
Status check_split(const RawDataset& raw, NodeSplit& split) {
  std::vector<int8_t> part_of(raw.labels.size(), -1);
  const int64_t nodes = static_cast<int64_t>(raw.labels.size());
  constexpr const char* kNames[] = {"train", "validation", "test"};
  std::vector<int64_t>* parts[] = {&split.train, &split.validation, &split.test};
  for (int8_t p = 0; p < 3; ++p) {
    std::sort(parts[p]->begin(), parts[p]->end());
    for (const int64_t node : *parts[p]) {
      if (node < 0 || node >= nodes) {
        return fail(ErrorCode::out_of_range,
                    fmt::format("{}: {} split lists node {}, outside [0, {})", raw.path, kNames[p], node, nodes));
      }
      int8_t& seen = part_of[static_cast<size_t>(node)];
      if (seen >= 0) {
        return fail(ErrorCode::invalid_argument, fmt::format("{}: node {} is in the {} split and in the {} split",
                                                             raw.path, node, kNames[seen], kNames[p]));
      }
      seen = p;
      if (raw.labels[static_cast<size_t>(node)] < 0) {
        return fail(ErrorCode::invalid_argument,
                    fmt::format("{}: node {} of the {} split has no label", raw.path, node, kNames[p]));
      }
    }
  }
  if (split.train.empty() && nodes > 0) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: no node to train on: train_mask is all false", raw.path));
  }
  return {};
}

Status build_graph(RawDataset& raw, bool undirected, Dataset& out) {
  const int64_t nodes = raw.features.rows();
  auto graph = Graph::from_edges(std::span<const int64_t>(raw.src), std::span<const int64_t>(raw.dst), nodes, nodes);
  if (!graph) return tl::unexpected<Error>(graph.error().within(raw.path + ": edge_index"));
  out.graph = std::move(*graph);
  if (!raw.edge_weights.empty()) {
    if (undirected) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("{}: edge_weight and the undirected option exclude each other: list both directions", raw.path));
    }
    const auto id = out.graph.edge_id();
    out.edge_weights.resize(raw.edge_weights.size());
    for (size_t k = 0; k < out.edge_weights.size(); ++k) {
      out.edge_weights[k] = raw.edge_weights[id.empty() ? k : static_cast<size_t>(id[k])];
      if (std::isfinite(out.edge_weights[k])) continue;
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: edge_weight {} is {}; weights must be finite", raw.path,
                              id.empty() ? static_cast<int64_t>(k) : id[k], out.edge_weights[k]));
    }
  }
  if (undirected) {
    PANTILE_TRY(out.graph, out.graph.symmetrised());
  }
  return {};
}

Hash128 fingerprint_of(const Dataset& d, const DenseMatrix<float>& x) {
  Hash128 hash = d.graph.fingerprint();
  hash = hash_bytes(d.edge_weights.data(), d.edge_weights.size() * sizeof(float), hash);
  const int64_t shape[] = {x.rows(), x.cols()};
  hash = hash_bytes(shape, sizeof shape, hash);
  hash = hash_bytes(x.data(), static_cast<size_t>(x.size()) * sizeof(float), hash);
  return hash_bytes(d.labels.data(), d.labels.size() * sizeof(int64_t), hash);
}

bool bag_of_words(const FeatureTable& x) {
  return x.pattern && std::all_of(x.values.begin(), x.values.end(), [](float v) { return v >= 0; });
}

Result<Dataset> assemble(RawDataset raw, const DatasetOptions& options) {
  const int64_t nodes = raw.features.rows();
  if (static_cast<int64_t>(raw.labels.size()) != nodes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: {} labels for {} nodes with features", raw.path, raw.labels.size(), nodes));
  }
  PANTILE_CHECK(check_features(raw));
  Dataset out;
  out.name = std::filesystem::path(raw.path).stem().string();
  if (out.name.empty()) out.name = std::filesystem::path(raw.path).parent_path().filename().string();
  out.path = raw.path;
  out.undirected = options.undirected;
  PANTILE_TRY(out.classes, count_classes(raw));
  if (!raw.split) raw.split = random_split(raw.labels, out.classes, options.split);
  PANTILE_CHECK(check_split(raw, *raw.split));
  PANTILE_CHECK(build_graph(raw, options.undirected, out));
  out.split = std::move(*raw.split);
  out.labels = std::move(raw.labels);
  out.fingerprint = fingerprint_of(out, raw.features);
  PANTILE_TRY(out.features, make_features(std::move(raw.features), options.sparse_share));
  out.normalisation = options.normalisation;
  if (out.normalisation == Normalisation::automatic) {
    out.normalisation = bag_of_words(out.features) ? Normalisation::rows : Normalisation::none;
  }
  if (out.normalisation == Normalisation::rows) normalise_rows(out.features);
  return out;
}

}  // namespace

DataShape Dataset::shape() const { return {graph.rows(), graph.edges(), features.width, classes, features.stored()}; }

Result<Dataset> load_dataset(const std::string& path, const DatasetOptions& options) {
  if (folder_exists(path)) {
    PANTILE_TRY(auto raw, read_ogb_dataset(path));
    return assemble(std::move(raw), options);
  }
  if (!file_exists(path)) {
    return fail(ErrorCode::io,
                fmt::format("{}: no such file or folder; a dataset is an .npz file or an OGB raw folder", path));
  }
  PANTILE_TRY(auto raw, read_npz_dataset(path));
  return assemble(std::move(raw), options);
}

}  // namespace pantile::nn
