#include <pantile/io/ogb.h>

#include <fmt/format.h>
#include <cmath>
#include <cstring>

#include "nn/raw_dataset.h"

namespace pantile::nn {
namespace {

constexpr const char* kGoodFolder =
    "a node-classification folder holds raw/edge.csv.gz, raw/num-node-list.csv.gz, raw/node-feat.csv.gz and "
    "raw/node-label.csv.gz, and optionally split/NAME/{train,valid,test}.csv.gz";

Status labels_of(const Tensor& t, const std::string& path, std::vector<int64_t>& labels) {
  const int64_t nodes = t.shape[0];
  if (t.size() != nodes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: node labels are {}; one class per node is needed", path, shape_text(t.shape)));
  }
  labels.resize(static_cast<size_t>(nodes), -1);
  for (int64_t i = 0; i < nodes; ++i) {
    const float v = t.as<float>()[i];
    if (std::isnan(v)) continue;  // the format's way to say "no label"
    if (v != std::floor(v) || std::abs(v) > 0x1p24f) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: label {} of node {} is not a class number", path, v, i));
    }
    labels[static_cast<size_t>(i)] = static_cast<int64_t>(v);
  }
  return {};
}

}  // namespace

Result<RawDataset> read_ogb_dataset(const std::string& path) {
  PANTILE_TRY(OgbFolder folder, read_ogb(path));
  if (!folder.node_feat || !folder.node_label) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{}: no {}; {}", path, folder.node_feat ? "node-label.csv.gz" : "node-feat.csv.gz", kGoodFolder));
  }
  RawDataset raw;
  raw.path = path;
  raw.src.assign(folder.edges.src.begin(), folder.edges.src.end());
  raw.dst.assign(folder.edges.dst.begin(), folder.edges.dst.end());
  raw.edge_weights.assign(folder.edges.weights.begin(), folder.edges.weights.end());
  const Tensor& x = *folder.node_feat;
  PANTILE_CHECK(raw.features.resize(x.shape[0], x.size() / std::max<int64_t>(1, x.shape[0])));
  if (!x.empty()) std::memcpy(raw.features.data(), x.as<float>(), x.buffer.bytes());
  PANTILE_CHECK(labels_of(*folder.node_label, path, raw.labels));
  if (folder.splits.size() > 1) {
    std::string names;
    for (const auto& [name, split] : folder.splits) names += (names.empty() ? "" : ", ") + name;
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: several splits ({}); leave one folder under split/", path, names));
  }
  if (!folder.splits.empty()) {
    auto& [name, rows] = *folder.splits.begin();
    raw.split = NodeSplit{std::move(rows.train), std::move(rows.valid), std::move(rows.test),
                          fmt::format("split/{} of the folder", name)};
  }
  return raw;
}

}  // namespace pantile::nn
