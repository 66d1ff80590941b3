#include <pantile/nn/dense_matrix.h>

#include <fmt/format.h>
#include <algorithm>

namespace pantile::nn {

template <class T>
Status DenseMatrix<T>::resize(int64_t rows, int64_t cols) {
  PANTILE_TRY(const int64_t size, checked_multiply(rows, cols));
  if (size > storage_.size()) {
    PANTILE_TRY(storage_, Array<T>::allocate(size));
  }
  rows_ = rows;
  cols_ = cols;
  return {};
}

template <class T>
Result<DenseMatrix<T>> DenseMatrix<T>::zeros(int64_t rows, int64_t cols) {
  DenseMatrix m;
  PANTILE_CHECK(m.resize(rows, cols));
  m.fill(T{0});
  return m;
}

template <class T>
Result<DenseMatrix<T>> DenseMatrix<T>::adopt(Array<T> elements, int64_t rows, int64_t cols) {
  PANTILE_TRY(const int64_t size, checked_multiply(rows, cols));
  if (size != elements.size()) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} elements for [{}, {}]", elements.size(), rows, cols));
  }
  DenseMatrix m;
  m.storage_ = std::move(elements);
  m.rows_ = rows;
  m.cols_ = cols;
  return m;
}

template <class T>
void DenseMatrix<T>::fill(T value) {
  std::fill_n(data(), size(), value);
}

template class DenseMatrix<float>;
template class DenseMatrix<double>;

}  // namespace pantile::nn
