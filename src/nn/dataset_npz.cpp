#include <pantile/io/npy.h>
#include <pantile/io/tensor.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "nn/raw_dataset.h"

namespace pantile::nn {
namespace {

constexpr const char* kGoodFile =
    "a dataset holds edge_index [2, E] integers, x [N, F] numbers, y [N] integers, and optionally train_mask, "
    "val_mask, "
    "test_mask [N] bools and edge_weight [E]";

using Arrays = std::map<std::string, Tensor>;

struct Reader {
  const std::string& path;
  const Arrays& arrays;

  tl::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {}; {}", path, what, kGoodFile));
  }

  Result<const Tensor*> find(const char* key) const {
    const auto at = arrays.find(key);
    if (at != arrays.end()) return &at->second;
    std::vector<std::string> names;
    for (const auto& [name, tensor] : arrays) names.push_back(fmt::format("{} {}", name, shape_text(tensor.shape)));
    return refuse(fmt::format("no array '{}' (found: {})", key,
                              names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "))));
  }

  Status edges(RawDataset& raw) const {
    PANTILE_TRY(const Tensor* t, find("edge_index"));
    if (t->shape.size() != 2 || t->shape[0] != 2) {
      const bool transposed = t->shape.size() == 2 && t->shape[1] == 2;
      return refuse(fmt::format("edge_index is {}{}", shape_text(t->shape),
                                transposed ? ", one edge a row: store its transpose" : ""));
    }
    PANTILE_TRY(const auto ids, to_int64(t->view(), path + ": edge_index"));
    const int64_t edges = t->shape[1];
    raw.src.assign(ids.begin(), ids.begin() + edges);
    raw.dst.assign(ids.begin() + edges, ids.end());
    if (const auto at = arrays.find("edge_weight"); at != arrays.end()) {
      const Tensor& w = at->second;
      if (w.size() != edges) return refuse(fmt::format("edge_weight is {} for {} edges", shape_text(w.shape), edges));
      PANTILE_TRY(const auto weights, to_float32(w.view(), path + ": edge_weight"));
      raw.edge_weights.assign(weights.begin(), weights.end());
    }
    return {};
  }

  Status features(RawDataset& raw) const {
    PANTILE_TRY(const Tensor* t, find("x"));
    if (t->shape.size() != 2) return refuse(fmt::format("x is {}", shape_text(t->shape)));
    PANTILE_TRY(auto x, to_float32(t->view(), path + ": x"));
    PANTILE_TRY(raw.features, DenseMatrix<float>::adopt(std::move(x), t->shape[0], t->shape[1]));
    return {};
  }

  Status labels(RawDataset& raw) const {
    PANTILE_TRY(const Tensor* t, find("y"));
    const int64_t nodes = raw.features.rows();
    if (t->shape.empty() || t->shape[0] != nodes || t->size() != nodes) {
      return refuse(fmt::format("y is {} for {} rows of x: one class per node is needed", shape_text(t->shape), nodes));
    }
    PANTILE_TRY(const auto y, to_int64(t->view(), path + ": y"));
    raw.labels.assign(y.begin(), y.end());
    return {};
  }

  Status mask(const char* key, int64_t nodes, std::vector<int64_t>& out) const {
    PANTILE_TRY(const Tensor* t, find(key));
    if (t->shape.size() == 2 && t->shape[0] == nodes && t->shape[1] > 1) {
      return refuse(fmt::format("{} is {}: several splits; store one column", key, shape_text(t->shape)));
    }
    if (t->shape.empty() || t->shape[0] != nodes || t->size() != nodes) {
      return refuse(fmt::format("{} is {} for {} nodes", key, shape_text(t->shape), nodes));
    }
    if (t->dtype != DType::boolean && t->dtype != DType::u8) {
      return refuse(
          fmt::format("{} has type {}; bool is needed (for node ids: mask = zeros(N, bool); mask[ids] = True)", key,
                      name(t->dtype)));
    }
    for (int64_t i = 0; i < nodes; ++i) {
      if (t->as<uint8_t>()[i] != 0) out.push_back(i);
    }
    return {};
  }

  Status masks(RawDataset& raw) const {
    constexpr const char* kKeys[] = {"train_mask", "val_mask", "test_mask"};
    int found = 0;
    for (const char* key : kKeys) found += arrays.contains(key);
    if (found == 0) return {};
    NodeSplit split;
    std::vector<int64_t>* parts[] = {&split.train, &split.validation, &split.test};
    for (int m = 0; m < 3; ++m) {
      if (!arrays.contains(kKeys[m])) {
        return refuse(fmt::format("{} is missing while other masks are there: give all three or none", kKeys[m]));
      }
      PANTILE_CHECK(mask(kKeys[m], raw.features.rows(), *parts[m]));
    }
    split.origin = "masks of the file";
    raw.split = std::move(split);
    return {};
  }
};

}  // namespace

Result<RawDataset> read_npz_dataset(const std::string& path) {
  std::vector<std::string> left_out;
  PANTILE_TRY(const Arrays arrays, read_npz(path, &left_out));
  RawDataset raw;
  raw.path = path;
  const Reader reader{path, arrays};
  PANTILE_CHECK(reader.edges(raw));
  PANTILE_CHECK(reader.features(raw));
  PANTILE_CHECK(reader.labels(raw));
  PANTILE_CHECK(reader.masks(raw));
  return raw;
}

}  // namespace pantile::nn
