#include <gtest/gtest.h>
#include <pantile/io/tensor.h>

#include <limits>

#include "io/files.h"

namespace pantile {
namespace {

using test::fails_with;

TEST(Tensor, KnowsItsSizeAndItsMatrix) {
  auto t = Tensor::allocate(DType::f32, {3, 2, 5});
  ASSERT_TRUE(t);
  EXPECT_EQ(t->size(), 30);
  EXPECT_EQ(t->buffer.bytes(), 120u);
  EXPECT_EQ(t->as_matrix().rows, 3);
  EXPECT_EQ(t->as_matrix().cols, 10);
  EXPECT_EQ(Tensor::allocate(DType::i64, {})->size(), 1);
  EXPECT_EQ(Tensor::allocate(DType::i64, {7})->as_matrix().cols, 1);
  EXPECT_TRUE(Tensor::allocate(DType::i64, {7, 0})->empty());
}

TEST(Tensor, ImpossibleShapesAreErrors) {
  EXPECT_TRUE(fails_with(Tensor::allocate(DType::f32, {2, -1}), ErrorCode::invalid_argument, {"[2, -1]"}));
  const int64_t huge = int64_t{1} << 40;
  EXPECT_TRUE(fails_with(Tensor::allocate(DType::u8, {huge, huge}), ErrorCode::out_of_memory, {"2^63"}));
  EXPECT_TRUE(fails_with(Tensor::allocate(DType::u8, {huge, 0, huge}), ErrorCode::out_of_memory, {"2^63"}));
  EXPECT_TRUE(fails_with(Tensor::allocate(DType::f64, {int64_t{1} << 61}), ErrorCode::out_of_memory, {}));
}

TEST(ToInt64, WidensIntegersAndRefusesTheRest) {
  const int8_t small[3] = {-1, 0, 127};
  EXPECT_EQ((*to_int64({small, DType::i8, {3}}, "x"))[0], -1);
  const uint64_t large[2] = {5, ~uint64_t{0}};
  EXPECT_TRUE(fails_with(to_int64({large, DType::u64, {2}}, "ids"), ErrorCode::out_of_range,
                         {"ids[1]", "18446744073709551615"}));
  const float f = 1;
  EXPECT_TRUE(fails_with(to_int64({&f, DType::f32, {1}}, "ids"), ErrorCode::invalid_argument, {"ids", "float32"}));
}

TEST(ToFloat32, RoundsAndRefusesOverflow) {
  const double d[2] = {0.1, 1e300};
  EXPECT_EQ((*to_float32({d, DType::f64, {1}}, "w"))[0], 0.1f);
  EXPECT_TRUE(fails_with(to_float32({d, DType::f64, {2}}, "w"), ErrorCode::out_of_range, {"w[1]", "1e+300"}));
  const BFloat16 b = to_bfloat16(-2.5f);
  EXPECT_EQ((*to_float32({&b, DType::bf16, {1}}, "w"))[0], -2.5f);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ((*to_float32({&infinite, DType::f64, {}}, "w"))[0], std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace pantile
