#pragma once

#include <pantile/core/buffer.h>
#include <pantile/core/dtype.h>
#include <pantile/core/matrix.h>
#include <pantile/core/random.h>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace pantile::test {

inline double get(const void* p, DType t, int64_t i) {
  switch (t) {
    case DType::f64:
      return static_cast<const double*>(p)[i];
    case DType::f32:
      return static_cast<const float*>(p)[i];
    case DType::bf16:
      return to_float(static_cast<const BFloat16*>(p)[i]);
    default:
      return to_float(static_cast<const Float16*>(p)[i]);
  }
}
inline void set(void* p, DType t, int64_t i, double v) {
  switch (t) {
    case DType::f64:
      static_cast<double*>(p)[i] = v;
      break;
    case DType::f32:
      static_cast<float*>(p)[i] = static_cast<float>(v);
      break;
    case DType::bf16:
      static_cast<BFloat16*>(p)[i] = to_bfloat16(static_cast<float>(v));
      break;
    default:
      static_cast<Float16*>(p)[i] = to_float16(static_cast<float>(v));
      break;
  }
}

/// Relative rounding of one store in t, and of one addition in its accumulator.
inline double storage_epsilon(DType t) {
  switch (t) {
    case DType::f64:
      return 0x1p-53;
    case DType::f32:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-11;
  }
}
inline double accumulator_epsilon(DType t) { return t == DType::f64 ? 0x1p-53 : 0x1p-24; }

/// A matrix of any floating dtype with `gap` elements between rows and a canary behind the end. The memory is exactly
/// as large as the last row needs, so that a sanitizer sees any read past it.
class Features {
 public:
  Features(DType dtype, int64_t rows, int64_t cols, int64_t gap = 0)
      : dtype_(dtype),
        rows_(rows),
        cols_(cols),
        stride_(cols + gap),
        bytes_(size_t(elements() + kCanary) * size_of(dtype)) {
    for (int64_t i = 0; i < elements() + kCanary; ++i)
      test::set(bytes_.data(), dtype_, i, std::numeric_limits<double>::quiet_NaN());
  }
  static Features random(DType dtype, int64_t rows, int64_t cols, uint64_t seed, int64_t gap = 0) {
    Features f(dtype, rows, cols, gap);
    Random r(seed);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) f.set(i, j, 2 * r.uniform_double() - 1);
    return f;
  }
  double operator()(int64_t i, int64_t j) const { return test::get(bytes_.data(), dtype_, i * stride_ + j); }
  void set(int64_t i, int64_t j, double v) { test::set(bytes_.data(), dtype_, i * stride_ + j, v); }
  /// True while everything that is not the matrix - gaps and canary - is still NaN.
  bool untouched_outside() const {
    for (int64_t k = 0; k < elements() + kCanary; ++k) {
      const bool inside = k < elements() && k % stride_ < cols_;
      if (!inside && !std::isnan(test::get(bytes_.data(), dtype_, k))) return false;
    }
    return true;
  }
  Matrix matrix() { return {bytes_.data(), dtype_, rows_, cols_, stride_}; }
  ConstMatrix matrix() const { return {bytes_.data(), dtype_, rows_, cols_, stride_}; }
  const std::vector<unsigned char>& bytes() const { return bytes_; }
  DType dtype() const { return dtype_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }

 private:
  static constexpr int64_t kCanary = 8;
  int64_t elements() const { return rows_ == 0 ? 0 : (rows_ - 1) * stride_ + cols_; }
  DType dtype_;
  int64_t rows_, cols_, stride_;
  std::vector<unsigned char> bytes_;
};

/// Edge values of accumulator type: [edges, heads] in CSR order.
class Values {
 public:
  Values(DType features, int64_t edges, int64_t heads, uint64_t seed)
      : dtype_(accumulator_of(features)),
        edges_(edges),
        heads_(heads),
        bytes_(size_t(edges * heads) * size_of(dtype_) + 1) {
    Random r(seed);
    for (int64_t i = 0; i < edges * heads; ++i) test::set(bytes_.data(), dtype_, i, 2 * r.uniform_double() - 1);
  }
  double operator()(int64_t k, int64_t h) const { return test::get(bytes_.data(), dtype_, k * heads_ + h); }
  void set(int64_t k, int64_t h, double v) { test::set(bytes_.data(), dtype_, k * heads_ + h, v); }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }
  DType dtype() const { return dtype_; }
  int64_t edges() const { return edges_; }
  int64_t heads() const { return heads_; }

 private:
  DType dtype_;
  int64_t edges_, heads_;
  std::vector<unsigned char> bytes_;
};

}  // namespace pantile::test
