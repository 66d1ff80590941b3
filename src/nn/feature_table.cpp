#include <pantile/core/thread_pool.h>
#include <pantile/nn/dataset.h>

#include <cmath>
#include <vector>

namespace pantile::nn {

Features<float> FeatureTable::view() const {
  Features<float> x;
  x.rows = rows;
  x.width = width;
  x.constant = true;
  if (pattern) {
    x.pattern = sparse::Plan::of(*pattern);
    x.values = values.data();
  } else {
    x.dense = dense.view();
  }
  return x;
}

Result<FeatureTable> make_features(DenseMatrix<float> dense, double sparse_share) {
  FeatureTable table;
  table.rows = dense.rows();
  table.width = dense.cols();
  std::vector<int64_t> ptr(static_cast<size_t>(table.rows) + 1, 0);
  parallel_for(table.rows, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t stored = 0;
      for (int64_t j = 0; j < table.width; ++j) stored += dense(i, j) != 0;
      ptr[static_cast<size_t>(i) + 1] = stored;
    }
  });
  for (size_t i = 1; i < ptr.size(); ++i) ptr[i] += ptr[i - 1];
  const int64_t stored = ptr.back();
  if (static_cast<double>(stored) > sparse_share * static_cast<double>(dense.size()) || dense.size() == 0) {
    table.dense = std::move(dense);
    return table;
  }
  PANTILE_TRY(auto columns, Array<int32_t>::allocate(stored));
  PANTILE_TRY(table.values, Array<float>::allocate(stored));
  parallel_for(table.rows, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t k = ptr[static_cast<size_t>(i)];
      for (int64_t j = 0; j < table.width; ++j) {
        if (dense(i, j) == 0) continue;
        columns[k] = static_cast<int32_t>(j);
        table.values[k++] = dense(i, j);
      }
    }
  });
  PANTILE_TRY(table.pattern, Graph::from_csr(table.rows, table.width, ptr, std::span<const int32_t>(columns.span())));
  return table;
}

void normalise_rows(FeatureTable& x) {
  parallel_for(x.rows, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* row = x.pattern ? x.values.data() + x.pattern->ptr()[static_cast<size_t>(i)] : x.dense.row(i);
      const int64_t size =
          x.pattern ? x.pattern->ptr()[static_cast<size_t>(i) + 1] - x.pattern->ptr()[static_cast<size_t>(i)] : x.width;
      double sum = 0;
      for (int64_t k = 0; k < size; ++k) sum += std::abs(static_cast<double>(row[k]));
      if (sum == 0) continue;
      for (int64_t k = 0; k < size; ++k) row[k] = static_cast<float>(row[k] / sum);
    }
  });
}

const char* name(Normalisation n) {
  switch (n) {
    case Normalisation::none:
      return "none";
    case Normalisation::rows:
      return "rows";
    case Normalisation::automatic:
      return "automatic";
  }
  return "";
}

std::optional<Normalisation> normalisation_from_name(std::string_view text) {
  for (const Normalisation n : {Normalisation::none, Normalisation::rows, Normalisation::automatic}) {
    if (text == name(n)) return n;
  }
  return std::nullopt;
}

}  // namespace pantile::nn
