#include <gtest/gtest.h>

#include <pantile/core/thread_pool.h>
#include <pantile/sparse/segment.h>

#include "support/features.h"
#include "support/graphs.h"
#include "support/oracle.h"

namespace pantile::sparse {
namespace {

using test::Features;

test::Expected oracle(const std::vector<int64_t>& ptr, const int64_t* perm, Reduce reduce, const Features& x) {
  test::Expected y(static_cast<int64_t>(ptr.size()) - 1, x.cols());
  for (int64_t i = 0; i < y.rows; ++i)
    for (int64_t f = 0; f < y.cols; ++f) {
      const int64_t b = ptr[static_cast<size_t>(i)], e = ptr[static_cast<size_t>(i + 1)];
      for (int64_t k = b; k < e; ++k) {
        const double v = x(perm == nullptr ? k : perm[k], f);
        double& best = y.value[static_cast<size_t>(i * y.cols + f)];
        if (reduce == Reduce::sum || reduce == Reduce::mean) {
          y.add(i, f, reduce == Reduce::mean ? v / static_cast<double>(e - b) : v);
        } else {
          best = k == b ? v : reduce == Reduce::max ? std::max(best, v) : std::min(best, v);
        }
      }
    }
  return y;
}

TEST(SegmentReduce, MatchesItsDefinitionWithAndWithoutPermutation) {
  const std::vector<int64_t> ptr{0, 3, 3, 4, 20, 20, 20'000, 20'001};
  std::vector<int64_t> perm(20'001);
  for (size_t k = 0; k < perm.size(); ++k) perm[k] = static_cast<int64_t>((k * 7919) % perm.size());
  for (const DType t : {DType::f32, DType::f64, DType::bf16, DType::f16})
    for (const int64_t width : {0, 1, 3, 8, 33})
      for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::min, Reduce::max})
        for (const int64_t* p : {static_cast<const int64_t*>(nullptr), static_cast<const int64_t*>(perm.data())}) {
          const Features x = Features::random(t, 20'001, width, 3, 2);
          std::vector<unsigned char> bits;
          for (const int threads : {1, 2, 4}) {
            set_num_threads(threads);
            Features y(t, 7, width, 1);
            ASSERT_TRUE(segment_reduce(ptr, p, reduce, x.matrix(), y.matrix()));
            EXPECT_EQ(test::first_difference(oracle(ptr, p, reduce, x), y), "") << name(t) << " width " << width;
            EXPECT_TRUE(y.untouched_outside());
            if (threads == 1) bits = y.bytes();
            EXPECT_EQ(y.bytes(), bits);
          }
          set_num_threads(0);
        }
}

TEST(SegmentReduce, SegmentsNeedNotStartAtZero) {
  const std::vector<float> x{100, 1, 2, 4};
  std::vector<float> y(2);
  const std::vector<int64_t> ptr{1, 3, 4};
  ASSERT_TRUE(segment_reduce(ptr, nullptr, Reduce::sum, matrix_of(x.data(), 4, 1), matrix_of(y.data(), 2, 1)));
  EXPECT_EQ(y, (std::vector<float>{3, 4}));
}

TEST(SegmentReduce, BadOffsetsAreNamed) {
  const std::vector<float> x(4);
  std::vector<float> y(2);
  const auto error = [&](std::vector<int64_t> ptr, const int64_t* perm) {
    const auto s = segment_reduce(ptr, perm, Reduce::sum, matrix_of(x.data(), 4, 1), matrix_of(y.data(), 2, 1));
    return s ? std::string("no error") : s.error().message;
  };
  EXPECT_EQ(error({0, 3, 2}, nullptr), "ptr[2] = 2 is less than ptr[1] = 3; offsets must not decrease");
  EXPECT_EQ(error({-1, 3, 4}, nullptr), "ptr[0] is -1, it must not be negative");
  EXPECT_EQ(error({0, 3, 5}, nullptr), "ptr ends at 5, but x has 4 rows");
  EXPECT_EQ(error({}, nullptr), "ptr is empty; it needs one entry more than there are segments");
  const std::vector<int64_t> perm{0, 4, 1};
  EXPECT_EQ(error({0, 2, 3}, perm.data()), "perm[1] = 4 is outside [0, 4)");
}

}  // namespace
}  // namespace pantile::sparse
