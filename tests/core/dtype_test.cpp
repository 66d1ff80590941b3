#include <gtest/gtest.h>
#include <pantile/core/dtype.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pantile {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

/// Every float at which some 16-bit format's rounding could go wrong: all its values, the midpoints between neighbours,
/// one step to either side of each, both signs.
std::vector<float> critical_floats() {
  std::vector<float> all;
  const auto around = [&](double v) {
    const float f = static_cast<float>(v);
    for (const float x : {std::nextafter(f, -kInfinity), f, std::nextafter(f, kInfinity)}) {
      all.push_back(x);
      all.push_back(-x);
    }
  };
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = to_float(Float16{static_cast<uint16_t>(bits)});
    const double high = bits == 0x7bff ? 65536.0 : to_float(Float16{static_cast<uint16_t>(bits + 1)});
    around(low);
    around((low + high) / 2);
  }
  for (const double v : {65519.0, 65520.0, 65521.0, 1e5, 3e38, 1e-8, 1e-40}) around(v);
  for (const uint32_t bits : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u, 0xffffffffu})
    all.push_back(from_bits(bits));
  return all;
}

/// Nearest half by search in the ordered table of all halves, ties to even: independent of any bit trick.
uint16_t nearest_half(double v) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  v = std::fabs(v);
  if (v >= 65520.0) return sign | 0x7c00;
  uint32_t low = 0, high = 0x7bff;
  while (low < high) {
    const uint32_t middle = (low + high + 1) / 2;
    (to_float(Float16{static_cast<uint16_t>(middle)}) <= v ? low : high) =
        to_float(Float16{static_cast<uint16_t>(middle)}) <= v ? middle : middle - 1;
  }
  if (low == 0x7bff) return sign | 0x7bff;
  const double below = v - to_float(Float16{static_cast<uint16_t>(low)}),
               above = to_float(Float16{static_cast<uint16_t>(low + 1)}) - v;
  const bool up = above < below || (above == below && low % 2 == 1);
  return static_cast<uint16_t>(sign | (up ? low + 1 : low));
}

TEST(DType, HalfValuesFollowTheirFormula) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const int exponent = static_cast<int>(bits >> 10) & 31, fraction = static_cast<int>(bits & 1023);
    const float value = to_float(Float16{static_cast<uint16_t>(bits)});
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      continue;
    }
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(value, (bits & 0x8000) != 0 ? -magnitude : magnitude) << bits;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
  }
}

TEST(DType, FloatToHalfRoundsToNearestEvenEverywhere) {
  for (const float v : critical_floats()) {
    const uint16_t half = to_float16(v).bits;
    if (std::isnan(v)) {
      EXPECT_GT(half & 0x7fff, 0x7c00);
    } else {
      ASSERT_EQ(half, nearest_half(v)) << v;
    }
  }
}

TEST(DType, HalvesSurviveTheTripThroughFloat) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    if ((bits & 0x7fff) > 0x7c00) continue;
    ASSERT_EQ(to_float16(to_float(Float16{static_cast<uint16_t>(bits)})).bits, bits);
  }
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) uint16_t half_by_hardware(float v) {
  return static_cast<uint16_t>(_cvtss_sh(v, _MM_FROUND_TO_NEAREST_INT));
}
__attribute__((target("f16c"))) float float_by_hardware(uint16_t v) { return _cvtsh_ss(v); }

TEST(DType, HalfConversionsAgreeWithTheProcessor) {
  if (!__builtin_cpu_supports("avx2")) {
    std::printf("this processor may lack the instructions to compare with\n");
    return;
  }
  for (const float v : critical_floats()) {
    if (std::isnan(v)) continue;
    ASSERT_EQ(to_float16(v).bits, half_by_hardware(v)) << v;
  }
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float ours = to_float(Float16{static_cast<uint16_t>(bits)}),
                theirs = float_by_hardware(static_cast<uint16_t>(bits));
    ASSERT_TRUE(std::isnan(ours) ? std::isnan(theirs)
                                 : std::bit_cast<uint32_t>(ours) == std::bit_cast<uint32_t>(theirs))
        << bits;
  }
}
#endif

TEST(DType, FloatToBfloat16RoundsToNearestEvenEverywhere) {
  for (uint32_t high = 0; high <= 0xffff; ++high) {
    for (const uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const uint32_t bits = (high << 16) | low;
      const uint16_t rounded = to_bfloat16(from_bits(bits)).bits;
      if ((bits & 0x7fffffff) > 0x7f800000) {
        ASSERT_GT(rounded & 0x7fff, 0x7f80) << std::hex << bits;
        continue;
      }
      const bool up = low > 0x8000 || (low == 0x8000 && high % 2 == 1);
      ASSERT_EQ(rounded, high + (up ? 1 : 0)) << std::hex << bits;
    }
  }
}

TEST(DType, NamesGoBothWays) {
  for (const DType t : {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i64, DType::i32, DType::i16, DType::i8,
                        DType::u8, DType::u16, DType::u32, DType::u64, DType::boolean}) {
    EXPECT_EQ(dtype_from_name(name(t)), t);
    EXPECT_GT(size_of(t), 0u);
  }
  EXPECT_EQ(dtype_from_name("complex64"), std::nullopt);
}

}  // namespace
}  // namespace pantile
