#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <pantile/io/edge_list.h>
#include "io/fields.h"
#include "io/npz_archive.h"

namespace pantile {
namespace {

/// The arrays of one matrix: scipy's names, or the same behind a prefix ("adj_").
class MatrixArrays {
 public:
  MatrixArrays(const io::NpzArchive& archive, std::string prefix) : archive_(archive), prefix_(std::move(prefix)) {}

  bool has(const std::string& name) const { return archive_.has(prefix_ + name); }

  Result<Array<int64_t>> integers(const std::string& name) const {
    PANTILE_TRY(const Tensor t, tensor(name));
    return to_int64(t.view(), where(name));
  }

  Result<Array<float>> values(int64_t expected) const {
    PANTILE_TRY(const Tensor t, tensor("data"));
    if (t.size() != expected) {
      return fail(ErrorCode::corrupt,
                  fmt::format("{} has {} values for {} entries", where("data"), t.size(), expected));
    }
    PANTILE_TRY(auto weights, to_float32(t.view(), where("data")));
    for (int64_t k = 0; k < weights.size(); ++k) {
      if (!std::isfinite(weights[k]))
        return fail(ErrorCode::corrupt,
                    fmt::format("{}[{}] is {}; weights must be finite", where("data"), k, weights[k]));
    }
    return weights;
  }

  std::string where(const std::string& name) const {
    return fmt::format("{}: array '{}{}'", archive_.name(), prefix_, name);
  }

 private:
  Result<Tensor> tensor(const std::string& name) const {
    PANTILE_TRY(auto t, archive_.read(prefix_ + name));
    if (!t) return fail(ErrorCode::corrupt, fmt::format("{} holds text; numbers are needed", where(name)));
    if (t->shape.size() != 1)
      return fail(ErrorCode::corrupt,
                  fmt::format("{} has shape {}; one dimension is needed", where(name), shape_text(t->shape)));
    return std::move(*t);
  }

  const io::NpzArchive& archive_;
  const std::string prefix_;
};

/// Offsets of a compressed format as one outer index per entry.
Result<Array<int64_t>> expand(const Array<int64_t>& offsets, int64_t outer, int64_t entries, const std::string& where) {
  if (offsets.size() != outer + 1)
    return fail(ErrorCode::corrupt, fmt::format("{} has {} offsets; {} are needed", where, offsets.size(), outer + 1));
  for (int64_t i = 0; i <= outer; ++i) {
    const int64_t least = i == 0 ? 0 : offsets[i - 1], most = i == 0 ? 0 : entries;
    if (offsets[i] < least || offsets[i] > most)
      return fail(ErrorCode::corrupt,
                  fmt::format("{}[{}] = {} must be in [{}, {}]", where, i, offsets[i], least, most));
  }
  if (offsets[outer] != entries)
    return fail(ErrorCode::corrupt, fmt::format("{} ends at {}; there are {} entries", where, offsets[outer], entries));
  PANTILE_TRY(auto index, Array<int64_t>::allocate(entries));
  for (int64_t i = 0; i < outer; ++i) std::fill(index.data() + offsets[i], index.data() + offsets[i + 1], i);
  return index;
}

Status check_range(const Array<int64_t>& index, int64_t count, const std::string& where) {
  for (int64_t k = 0; k < index.size(); ++k) {
    if (index[k] < 0 || index[k] >= count)
      return fail(ErrorCode::out_of_range, fmt::format("{}[{}] = {} is outside [0, {})", where, k, index[k], count));
  }
  return {};
}

}  // namespace

Result<EdgeList> read_scipy_npz(const Input& input) {
  PANTILE_TRY(const io::NpzArchive archive, io::NpzArchive::open(input));
  const MatrixArrays m(archive, !archive.has("shape") && archive.has("adj_shape") ? "adj_" : "");
  std::string format = m.has("row") ? "coo" : "csr";
  if (archive.has("format")) {
    PANTILE_TRY(format, archive.read_text("format"));
  }
  if (format != "csr" && format != "csc" && format != "coo") {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: format {} is not read; csr, csc and coo are (convert with .tocsr())", archive.name(),
                            io::quoted(format)));
  }
  PANTILE_TRY(const auto shape, m.integers("shape"));
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || std::max(shape[0], shape[1]) > io::kMostId) {
    return fail(ErrorCode::corrupt, fmt::format("{} must hold two extents >= 0", m.where("shape")));
  }
  const int64_t rows = shape[0], cols = shape[1];
  EdgeList edges;
  edges.num_dst = rows;
  edges.num_src = cols;
  if (format == "coo") {
    PANTILE_TRY(edges.dst, m.integers("row"));
    PANTILE_TRY(edges.src, m.integers("col"));
    if (edges.dst.size() != edges.src.size())
      return fail(ErrorCode::corrupt, fmt::format("{} has {} entries, and 'col' has {}", m.where("row"),
                                                  edges.dst.size(), edges.src.size()));
    PANTILE_CHECK(check_range(edges.dst, rows, m.where("row")));
    PANTILE_CHECK(check_range(edges.src, cols, m.where("col")));
  } else {
    PANTILE_TRY(const auto offsets, m.integers("indptr"));
    PANTILE_TRY(auto inner, m.integers("indices"));
    PANTILE_CHECK(check_range(inner, format == "csr" ? cols : rows, m.where("indices")));
    PANTILE_TRY(auto outer, expand(offsets, format == "csr" ? rows : cols, inner.size(), m.where("indptr")));
    (format == "csr" ? edges.src : edges.dst) = std::move(inner);
    (format == "csr" ? edges.dst : edges.src) = std::move(outer);
  }
  PANTILE_TRY(edges.weights, m.values(edges.src.size()));
  return edges;
}

}  // namespace pantile
