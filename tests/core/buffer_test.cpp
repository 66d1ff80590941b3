#include <gtest/gtest.h>
#include <pantile/core/buffer.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace pantile {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(Buffer, StartsOnACacheLineAndLargeOnesOnAHugePage) {
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1} << 20, (size_t{4} << 20) - 1}) {
    auto b = Buffer::allocate(bytes);
    ASSERT_TRUE(b);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % 64, 0u);
    EXPECT_EQ(b->bytes(), bytes);
    std::memset(b->data(), 7, bytes);
  }
  auto large = Buffer::allocate((size_t{4} << 20) + 1);
  ASSERT_TRUE(large);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large->data()) % (size_t{2} << 20), 0u);
  std::memset(large->data(), 7, large->bytes());
}

TEST(Buffer, OfNothingHasNoData) {
  auto b = Buffer::allocate(0);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->data(), nullptr);
  EXPECT_EQ(b->bytes(), 0u);
}

TEST(Buffer, MovesAndLeavesNothingBehind) {
  Buffer a = std::move(*Buffer::allocate(100));
  void* const data = a.data();
  Buffer b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.bytes(), 0u);
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(a.bytes(), 100u);
}

TEST(Buffer, MoreThanTheMachineHasIsAnErrorThatSaysHowMuch) {
  for (const size_t bytes :
       {size_t{1} << 50, std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() - 64}) {
    const auto b = Buffer::allocate(bytes);
    ASSERT_FALSE(b);
    EXPECT_EQ(b.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(b.error().message.find(std::to_string(bytes)), std::string::npos) << b.error().message;
  }
}

TEST(Buffer, ElementCountsAreChecked) {
  EXPECT_EQ(Buffer::allocate_elements(-1, 4).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Buffer::allocate_elements(kMost, 8).error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(Buffer::allocate_elements(3, 8)->bytes(), 24u);
}

TEST(Array, KeepsItsSizeAndElements) {
  auto a = Array<int32_t>::allocate(5);
  ASSERT_TRUE(a);
  for (int64_t i = 0; i < 5; ++i) (*a)[i] = static_cast<int32_t>(i * i);
  const Array<int32_t> b = std::move(*a);
  EXPECT_EQ(b.size(), 5);
  EXPECT_EQ(b.span().back(), 16);
  EXPECT_TRUE(Array<float>().empty());
}

TEST(CheckedArithmetic, OverflowIsAnErrorThatNamesBothNumbers) {
  EXPECT_EQ(*checked_multiply(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  const auto product = checked_multiply(int64_t{1} << 32, int64_t{1} << 31);
  ASSERT_FALSE(product);
  EXPECT_NE(product.error().message.find("4294967296 x 2147483648"), std::string::npos);
  EXPECT_FALSE(checked_add(kMost, 1));
  EXPECT_EQ(*checked_add(kMost, 0), kMost);
}

TEST(AvailableMemory, IsKnownHere) { EXPECT_GT(available_memory_bytes(), 0); }

}  // namespace
}  // namespace pantile
