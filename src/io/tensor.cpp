#include <fmt/format.h>
#include <fmt/ranges.h>

#include <pantile/io/tensor.h>
#include <cmath>
#include <cstring>
#include <limits>

namespace pantile {
namespace {

int64_t product(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

/// Calls visit(T{}) with the element type that stands for `t`.
template <class Visit>
auto dispatch(DType t, Visit visit) {
  switch (t) {
    case DType::f64:
      return visit(double{});
    case DType::f32:
      return visit(float{});
    case DType::bf16:
      return visit(BFloat16{});
    case DType::f16:
      return visit(Float16{});
    case DType::i64:
      return visit(int64_t{});
    case DType::i32:
      return visit(int32_t{});
    case DType::i16:
      return visit(int16_t{});
    case DType::i8:
      return visit(int8_t{});
    case DType::u16:
      return visit(uint16_t{});
    case DType::u32:
      return visit(uint32_t{});
    case DType::u64:
      return visit(uint64_t{});
    case DType::u8:
    case DType::boolean:
      break;
  }
  return visit(uint8_t{});
}

template <class T>
double as_double(T v) {
  if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>) {
    return to_float(v);
  } else {
    return static_cast<double>(v);
  }
}

ConstMatrix matrix(const void* data, DType dtype, const std::vector<int64_t>& shape) {
  const int64_t rows = shape.empty() ? 1 : shape[0];
  int64_t cols = 1;
  for (size_t i = 1; i < shape.size(); ++i) cols *= shape[i];
  return {data, dtype, rows, cols, cols};
}

}  // namespace

int64_t TensorView::size() const { return product(shape); }
int64_t Tensor::size() const { return product(shape); }

Result<Tensor> Tensor::allocate(DType dtype, std::vector<int64_t> shape) {
  int64_t count = 1, extents = 1;  // extents: the product without zeros, so that [2^62, 0, 2^62] is refused as well
  for (const int64_t extent : shape) {
    if (extent < 0)
      return fail(ErrorCode::invalid_argument, fmt::format("shape {}: extents must be >= 0", shape_text(shape)));
    if (extent > 0) {
      PANTILE_TRY(extents, checked_multiply(extents, extent));
    } else {
      count = 0;
    }
  }
  PANTILE_CHECK(checked_multiply(extents, static_cast<int64_t>(size_of(dtype))));
  Tensor t;
  PANTILE_TRY(t.buffer, Buffer::allocate_elements(count * extents, size_of(dtype)));
  t.dtype = dtype;
  t.shape = std::move(shape);
  return t;
}

ConstMatrix Tensor::as_matrix() const { return matrix(buffer.data(), dtype, shape); }

Matrix Tensor::as_matrix() {
  const ConstMatrix m = matrix(buffer.data(), dtype, shape);
  return {buffer.data(), m.dtype, m.rows, m.cols, m.row_stride};
}

std::string shape_text(const std::vector<int64_t>& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Result<Array<int64_t>> to_int64(const TensorView& t, const std::string& what) {
  if (is_floating(t.dtype)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} has type {}; an integer type is needed", what, name(t.dtype)));
  }
  PANTILE_TRY(auto out, Array<int64_t>::allocate(t.size()));
  const Status status = dispatch(t.dtype, [&](auto tag) -> Status {
    using T = decltype(tag);
    if constexpr (std::is_integral_v<T>) {
      const T* const from = static_cast<const T*>(t.data);
      for (int64_t i = 0; i < out.size(); ++i) {
        if constexpr (std::is_same_v<T, uint64_t>) {
          if (from[i] > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
            return fail(ErrorCode::out_of_range, fmt::format("{}[{}] = {} exceeds 2^63 - 1", what, i, from[i]));
          }
        }
        out[i] = static_cast<int64_t>(from[i]);
      }
    }
    return {};
  });
  PANTILE_CHECK(status);
  return out;
}

Result<Array<float>> to_float32(const TensorView& t, const std::string& what) {
  PANTILE_TRY(auto out, Array<float>::allocate(t.size()));
  const Status status = dispatch(t.dtype, [&](auto tag) -> Status {
    using T = decltype(tag);
    const T* const from = static_cast<const T*>(t.data);
    for (int64_t i = 0; i < out.size(); ++i) {
      const double v = as_double(from[i]);
      out[i] = static_cast<float>(v);
      if (std::isinf(out[i]) && std::isfinite(v)) {
        return fail(ErrorCode::out_of_range, fmt::format("{}[{}] = {} does not fit float32", what, i, v));
      }
    }
    return {};
  });
  PANTILE_CHECK(status);
  return out;
}

}  // namespace pantile
