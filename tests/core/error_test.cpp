#include <gtest/gtest.h>
#include <pantile/core/error.h>

#include <memory>

namespace pantile {
namespace {

Result<std::unique_ptr<int>> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::invalid_argument, "odd", {{"n", std::to_string(n)}});
  return std::make_unique<int>(n / 2);
}

Result<int> quarter(int n) {
  PANTILE_TRY(const auto first, half(n));
  PANTILE_TRY(const auto second, half(*first));
  return *second;
}

Status is_even(int n) {
  PANTILE_CHECK(half(n));
  return {};
}

TEST(Error, TryGivesTheValueOrReturnsTheError) {
  EXPECT_EQ(*quarter(8), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(6).error().details.at(0).value, "3");
}

TEST(Error, CheckDropsTheValueAndReturnsTheError) {
  EXPECT_TRUE(is_even(4));
  EXPECT_EQ(is_even(3).error().code, ErrorCode::invalid_argument);
}

TEST(Error, WithinPutsThePlaceBeforeTheMessageAndKeepsTheRest) {
  const Error e = half(3).error().within("table 2");
  EXPECT_EQ(e.message, "table 2: odd");
  EXPECT_EQ(e.code, ErrorCode::invalid_argument);
  EXPECT_EQ(e.details.size(), 1u);
}

TEST(Error, EveryCodeHasAName) {
  for (const ErrorCode c : {ErrorCode::invalid_argument, ErrorCode::out_of_range, ErrorCode::corrupt, ErrorCode::io,
                            ErrorCode::out_of_memory, ErrorCode::unsupported}) {
    EXPECT_STRNE(name(c), "internal");
  }
  EXPECT_STREQ(name(ErrorCode::out_of_range), "out_of_range");
}

}  // namespace
}  // namespace pantile
