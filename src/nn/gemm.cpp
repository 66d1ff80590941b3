#include "nn/gemm.h"

#include <cblas.h>
#include <pantile/core/thread_pool.h>

#include <algorithm>
#include <mutex>

#include "nn/reduction.h"

namespace pantile::nn {
namespace {

// OpenBLAS would start a thread team of its own inside each of our threads, and split sums by their number.
void one_blas_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

// BLAS wants every leading dimension >= 1 and >= the columns, also where a matrix has no more than one row.
blasint leading(ConstMatrix m) { return static_cast<blasint>(std::max({m.row_stride, m.cols, int64_t{1}})); }

template <class T>
const T* row_of(ConstMatrix m, int64_t row) {
  return m.as<T>() + row * m.row_stride;
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k, const float* a, blasint lda,
          const float* b, blasint ldb, float beta, float* c, blasint ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), 1.0f, a,
              lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k, const double* a, blasint lda,
          const double* b, blasint ldb, double beta, double* c, blasint ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), 1.0, a,
              lda, b, ldb, beta, c, ldc);
}

constexpr int64_t kRowGrain = 256;  // large enough that packing the weights again for each chunk costs about a percent

template <class T>
void by_row_chunks(ConstMatrix x, ConstMatrix w, CBLAS_TRANSPOSE transpose_w, int64_t inner, bool accumulate,
                   Matrix y) {
  if (y.rows == 0 || y.cols == 0) return;
  one_blas_thread();
  parallel_for(y.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    T* out = y.as<T>() + begin * y.row_stride;
    if (inner == 0) {
      if (accumulate) return;
      for (int64_t i = begin; i < end; ++i) std::fill_n(y.as<T>() + i * y.row_stride, y.cols, T{0});
      return;
    }
    gemm(CblasNoTrans, transpose_w, end - begin, y.cols, inner, row_of<T>(x, begin), leading(x), w.as<T>(), leading(w),
         accumulate ? T{1} : T{0}, out, leading(y));
  });
}

}  // namespace

template <class T>
void multiply_by_transpose(ConstMatrix x, ConstMatrix w, bool accumulate, Matrix y) {
  by_row_chunks<T>(x, w, CblasTrans, x.cols, accumulate, y);
}

template <class T>
void multiply(ConstMatrix x, ConstMatrix w, bool accumulate, Matrix y) {
  by_row_chunks<T>(x, w, CblasNoTrans, x.cols, accumulate, y);
}

template <class T>
Status multiply_transposed(ConstMatrix a, ConstMatrix b, DenseMatrix<T>& partials, Matrix y) {
  const int64_t n = a.rows, size = y.rows * y.cols;
  if (size == 0) return {};
  one_blas_thread();
  const int64_t grain = partial_grain(n);
  const int64_t chunks = (n + grain - 1) / grain;
  PANTILE_CHECK(partials.resize(chunks, size));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    gemm(CblasTrans, CblasNoTrans, y.rows, y.cols, end - begin, row_of<T>(a, begin), leading(a), row_of<T>(b, begin),
         leading(b), T{0}, partials.row(begin / grain), leading(y));
  });
  fold_partials(partials, y.as<T>());
  return {};
}

#define PANTILE_INSTANTIATE(T)                                                    \
  template void multiply_by_transpose<T>(ConstMatrix, ConstMatrix, bool, Matrix); \
  template void multiply<T>(ConstMatrix, ConstMatrix, bool, Matrix);              \
  template Status multiply_transposed<T>(ConstMatrix, ConstMatrix, DenseMatrix<T>&, Matrix);
PANTILE_INSTANTIATE(float)
PANTILE_INSTANTIATE(double)
#undef PANTILE_INSTANTIATE

}  // namespace pantile::nn
