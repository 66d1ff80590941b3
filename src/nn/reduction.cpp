#include "nn/reduction.h"

#include <pantile/core/thread_pool.h>

#include <algorithm>

namespace pantile::nn {

int64_t partial_grain(int64_t n) {
  constexpr int64_t kMostChunks = 16, kFewestRows = 256;
  return std::max(kFewestRows, (n + kMostChunks - 1) / kMostChunks);
}

template <class T>
void fold_partials(const DenseMatrix<T>& partials, T* out) {
  parallel_for(partials.cols(), 4096, [&](int64_t begin, int64_t end) {
    std::fill(out + begin, out + end, T{0});
    for (int64_t i = 0; i < partials.rows(); ++i) {
      const T* part = partials.row(i);
      for (int64_t j = begin; j < end; ++j) out[j] += part[j];
    }
  });
}

template <class T>
Status column_sums(ConstMatrix x, DenseMatrix<T>& partials, T* out) {
  if (x.cols == 0) return {};
  const int64_t grain = partial_grain(x.rows);
  PANTILE_CHECK(partials.resize((x.rows + grain - 1) / grain, x.cols));
  parallel_for(x.rows, grain, [&](int64_t begin, int64_t end) {
    T* sum = partials.row(begin / grain);
    std::fill_n(sum, x.cols, T{0});
    for (int64_t i = begin; i < end; ++i) {
      const T* row = x.as<T>() + i * x.row_stride;
      for (int64_t j = 0; j < x.cols; ++j) sum[j] += row[j];
    }
  });
  fold_partials(partials, out);
  return {};
}

template void fold_partials(const DenseMatrix<float>&, float*);
template void fold_partials(const DenseMatrix<double>&, double*);
template Status column_sums(ConstMatrix, DenseMatrix<float>&, float*);
template Status column_sums(ConstMatrix, DenseMatrix<double>&, double*);

}  // namespace pantile::nn
