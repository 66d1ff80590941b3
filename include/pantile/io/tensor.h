#pragma once

#include <pantile/core/buffer.h>
#include <pantile/core/dtype.h>
#include <pantile/core/matrix.h>
#include <cstdint>
#include <string>
#include <vector>

namespace pantile {

/// A borrowed n-dimensional array in C order without gaps; what writers take. `shape` {} is a scalar (one element).
struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;

  /// Product of the shape. Precondition: it fits int64 (true for every view of memory that exists).
  int64_t size() const;
  size_t bytes() const { return static_cast<size_t>(size()) * size_of(dtype); }
};

/// An owned n-dimensional array in C order without gaps; what readers give. Move-only.
/// Invariant: buffer.bytes() == size() * size_of(dtype).
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  Buffer buffer;

  /// Uninitialised. Errors: negative extents; a product beyond 2^63 - 1; out_of_memory.
  static Result<Tensor> allocate(DType dtype, std::vector<int64_t> shape);

  int64_t size() const;
  bool empty() const { return buffer.bytes() == 0; }
  template <class T>
  T* as() {
    return buffer.as<T>();
  }
  template <class T>
  const T* as() const {
    return buffer.as<T>();
  }
  TensorView view() const { return {buffer.data(), dtype, shape}; }
  /// Rows = first extent, columns = product of the others; [n] is n x 1, a scalar 1 x 1.
  Matrix as_matrix();
  ConstMatrix as_matrix() const;
};

/// "[2708, 1433]"
std::string shape_text(const std::vector<int64_t>& shape);

/// A copy as int64. `what` names the array in errors. Errors: invalid_argument for a floating type; out_of_range for a
/// uint64 beyond 2^63 - 1, with its position.
Result<Array<int64_t>> to_int64(const TensorView& t, const std::string& what);
/// A copy as float32 (f64 rounds to nearest, integers to nearest). Finite values that overflow float32 are
/// out_of_range.
Result<Array<float>> to_float32(const TensorView& t, const std::string& what);

}  // namespace pantile
