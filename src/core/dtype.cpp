#include <pantile/core/dtype.h>
#include <array>
#include <bit>
#include <utility>

namespace pantile {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 13> kNames = {{{DType::f64, "float64"},
                                                                        {DType::f32, "float32"},
                                                                        {DType::bf16, "bfloat16"},
                                                                        {DType::f16, "float16"},
                                                                        {DType::i64, "int64"},
                                                                        {DType::i32, "int32"},
                                                                        {DType::i16, "int16"},
                                                                        {DType::i8, "int8"},
                                                                        {DType::u8, "uint8"},
                                                                        {DType::u16, "uint16"},
                                                                        {DType::u32, "uint32"},
                                                                        {DType::u64, "uint64"},
                                                                        {DType::boolean, "bool"}}};

}  // namespace

std::string_view name(DType t) {
  for (const auto& [type, text] : kNames) {
    if (type == t) return text;
  }
  return "unknown";
}

std::optional<DType> dtype_from_name(std::string_view text) {
  for (const auto& [type, known] : kNames) {
    if (known == text) return type;
  }
  return std::nullopt;
}

float to_float(BFloat16 v) { return std::bit_cast<float>(uint32_t{v.bits} << 16); }

BFloat16 to_bfloat16(float v) {
  const uint32_t bits = std::bit_cast<uint32_t>(v);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return {static_cast<uint16_t>((bits >> 16) | 0x40u)};  // quiet the NaN: rounding could make it Inf
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

float to_float(Float16 v) {
  const uint32_t sign = uint32_t{v.bits & 0x8000u} << 16, magnitude = v.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

Float16 to_float16(float v) {
  const uint32_t bits = std::bit_cast<uint32_t>(v), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
  if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {static_cast<uint16_t>(sign | ((rounded - (112u << 23)) >> 13))};
}

}  // namespace pantile
