#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pantile {

/// Element types that cross public borders. bf16 and f16 are storage only: arithmetic on them accumulates in f32.
enum class DType : uint8_t { f64, f32, bf16, f16, i64, i32, i16, i8, u8, u16, u32, u64, boolean };

/// Bytes of one element.
constexpr size_t size_of(DType t) {
  switch (t) {
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return 8;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    case DType::bf16:
    case DType::f16:
    case DType::i16:
    case DType::u16:
      return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return 1;
  }
  return 0;
}
constexpr bool is_floating(DType t) {
  return t == DType::f64 || t == DType::f32 || t == DType::bf16 || t == DType::f16;
}
/// The type in which sums over elements of type t are kept: f64 for f64, f32 for every other floating type.
constexpr DType accumulator_of(DType t) { return t == DType::f64 ? DType::f64 : DType::f32; }

/// "float32", "bfloat16", "int64", ... (NumPy's and torch's names), and back.
std::string_view name(DType t);
std::optional<DType> dtype_from_name(std::string_view name);

/// Storage of one bf16 value; conversions round to nearest even, NaN stays NaN.
struct BFloat16 {
  uint16_t bits = 0;
};
/// Storage of one IEEE half value.
struct Float16 {
  uint16_t bits = 0;
};
float to_float(BFloat16 v);
float to_float(Float16 v);
BFloat16 to_bfloat16(float v);
Float16 to_float16(float v);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::u8;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;  ///< of a C++ type

}  // namespace pantile
