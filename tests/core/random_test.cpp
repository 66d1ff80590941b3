#include <gtest/gtest.h>
#include <pantile/core/random.h>

#include <cmath>
#include <set>
#include <vector>

namespace pantile {
namespace {

using Words = std::array<uint32_t, 4>;

TEST(Philox, FollowsThePublishedVectors) {
  // Random123's kat_vectors, philox4x32 with ten rounds; counter words c0 c1 c2 c3, key words k0 k1.
  EXPECT_EQ(philox4x32(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsTheSameForTheSameSeedAndStreamOnly) {
  const auto draw = [](uint64_t seed, uint64_t stream) {
    Random r(seed, stream);
    std::vector<uint64_t> words;
    for (int i = 0; i < 9; ++i) words.push_back(r.next_u64());
    return words;
  };
  EXPECT_EQ(draw(1, 2), draw(1, 2));
  EXPECT_NE(draw(1, 2), draw(1, 3));
  EXPECT_NE(draw(1, 2), draw(2, 2));
}

TEST(Random, BelowStaysInRangeAndReachesEveryValueEvenly) {
  Random r(7);
  for (const uint64_t bound : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{10}}) {
    std::vector<int> counts(bound);
    for (int i = 0; i < 30000; ++i) {
      const uint64_t v = r.below(bound);
      ASSERT_LT(v, bound);
      ++counts[v];
    }
    const double expected = 30000.0 / static_cast<double>(bound);
    for (const int n : counts) EXPECT_NEAR(n, expected, 6 * std::sqrt(expected));
  }
  const uint64_t large = (uint64_t{1} << 63) + 1;  // nearly half of all words are rejected
  for (int i = 0; i < 1000; ++i) EXPECT_LT(r.below(large), large);
}

TEST(Random, UniformsLieInTheHalfOpenUnitInterval) {
  Random r(3);
  double sum = 0, sum_double = 0;
  for (int i = 0; i < 20000; ++i) {
    const float u = r.uniform();
    const double v = r.uniform_double();
    ASSERT_TRUE(u >= 0 && u < 1 && v >= 0 && v < 1);
    sum += u;
    sum_double += v;
  }
  EXPECT_NEAR(sum / 20000, 0.5, 0.02);
  EXPECT_NEAR(sum_double / 20000, 0.5, 0.02);
}

TEST(Random, NormalsHaveMeanZeroAndVarianceOne) {
  Random r(5);
  double sum = 0, squares = 0;
  for (int i = 0; i < 40000; ++i) {
    const double v = r.normal();
    ASSERT_TRUE(std::isfinite(v));
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 40000, 0, 0.03);
  EXPECT_NEAR(squares / 40000, 1, 0.04);
}

}  // namespace
}  // namespace pantile
