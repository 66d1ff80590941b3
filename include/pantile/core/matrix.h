#pragma once

#include <pantile/core/dtype.h>
#include <cstdint>

namespace pantile {

/// A borrowed dense matrix, row-major, unit column stride; nothing is owned or copied.
/// Invariants: rows >= 0, cols >= 0, row_stride >= cols (elements) when rows > 1, data may be null only when rows *
/// cols == 0.
struct ConstMatrix {
  const void* data = nullptr;
  DType dtype = DType::f32;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t row_stride = 0;  ///< elements between the starts of two rows

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

/// The same, writable.
struct Matrix {
  void* data = nullptr;
  DType dtype = DType::f32;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t row_stride = 0;

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  operator ConstMatrix() const { return {data, dtype, rows, cols, row_stride}; }
};

/// A dense matrix without gaps over `data` of element type T.
template <class T>
Matrix matrix_of(T* data, int64_t rows, int64_t cols) {
  return {data, dtype_of<T>, rows, cols, cols};
}
template <class T>
ConstMatrix matrix_of(const T* data, int64_t rows, int64_t cols) {
  return {data, dtype_of<T>, rows, cols, cols};
}

}  // namespace pantile
