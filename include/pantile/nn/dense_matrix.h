#pragma once

#include <pantile/core/buffer.h>
#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <cstdint>
#include <span>

namespace pantile::nn {

/// An owned row-major matrix without gaps. T is float or double. Move-only.
template <class T>
class DenseMatrix {
 public:
  /// Every element 0. Errors: out_of_memory; a product of sizes that does not fit in 63 bits.
  static Result<DenseMatrix> zeros(int64_t rows, int64_t cols);
  /// Takes over `elements`, which hold rows * cols values. Errors: invalid_argument when they do not.
  static Result<DenseMatrix> adopt(Array<T> elements, int64_t rows, int64_t cols);

  /// Changes the shape; contents are then undefined. Memory is kept when it is large enough, so that a training loop
  /// touches no fresh pages after its first epoch.
  Status resize(int64_t rows, int64_t cols);
  void fill(T value);

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t size() const { return rows_ * cols_; }
  T* data() { return storage_.data(); }
  const T* data() const { return storage_.data(); }
  T* row(int64_t i) { return data() + i * cols_; }
  const T* row(int64_t i) const { return data() + i * cols_; }
  T& operator()(int64_t i, int64_t j) { return data()[i * cols_ + j]; }
  const T& operator()(int64_t i, int64_t j) const { return data()[i * cols_ + j]; }
  std::span<T> span() { return {data(), static_cast<size_t>(size())}; }
  std::span<const T> span() const { return {data(), static_cast<size_t>(size())}; }
  Matrix view() { return matrix_of(data(), rows_, cols_); }
  ConstMatrix view() const { return matrix_of(data(), rows_, cols_); }

 private:
  Array<T> storage_;
  int64_t rows_ = 0, cols_ = 0;
};

extern template class DenseMatrix<float>;
extern template class DenseMatrix<double>;

}  // namespace pantile::nn
