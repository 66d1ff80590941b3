#include <cmath>

#include "nn/small_data.h"

namespace pantile::nn::test {
namespace {

TEST(Dropout, KeepsTheShareAndTheMean) {
  auto x = must(DenseMatrix<double>::zeros(400, 251));
  x.fill(1);
  for (const double p : {0.1, 0.5, 0.6, 0.9}) {
    auto layer = must(make_dropout<double>(p, 0));
    const auto y = must(layer->forward(Features<double>::of(std::as_const(x).view()), {true, 7})).dense;
    double kept = 0, sum = 0;
    for (int64_t k = 0; k < x.size(); ++k) {
      kept += y.as<double>()[k] != 0;
      sum += y.as<double>()[k];
    }
    const double n = static_cast<double>(x.size()), deviation = std::sqrt(p * (1 - p) / n);
    EXPECT_NEAR(kept / n, 1 - p, 5 * deviation + 1e-5) << p;
    EXPECT_NEAR(sum / n, 1, 5 * deviation / (1 - p) + 1e-4) << p;
  }
}

TEST(Dropout, DoesNothingOutsideTraining) {
  const auto x = random_matrix<float>(5, 3, 1);
  auto layer = must(make_dropout<float>(0.5, 0));
  const auto y = must(layer->forward(Features<float>::of(x.view(), true), {false, 7}));
  EXPECT_EQ(y.dense.data, x.data());
  EXPECT_TRUE(y.constant);
}

TEST(Dropout, SeedsAndStreamsGiveOtherMasks) {
  auto x = must(DenseMatrix<float>::zeros(64, 16));
  x.fill(1);
  const auto mask = [&](uint64_t seed, uint64_t stream) {
    auto layer = must(make_dropout<float>(0.5, stream));
    const auto y = must(layer->forward(Features<float>::of(std::as_const(x).view()), {true, seed})).dense;
    return std::vector<float>(y.as<float>(), y.as<float>() + x.size());
  };
  EXPECT_EQ(mask(1, 0), mask(1, 0));
  EXPECT_NE(mask(1, 0), mask(2, 0));
  EXPECT_NE(mask(1, 0), mask(1, 1));
}

TEST(Dropout, StridedFeaturesAreReadByTheirStride) {
  const auto wide = random_matrix<float>(9, 10, 1);
  auto narrow = must(DenseMatrix<float>::zeros(9, 4));
  for (int64_t i = 0; i < 9; ++i) std::copy_n(wide.row(i) + 3, 4, narrow.row(i));
  auto a = must(make_dropout<float>(0.5, 0)), b = must(make_dropout<float>(0.5, 0));
  const auto y = must(a->forward(Features<float>::of({wide.data() + 3, DType::f32, 9, 4, 10}), {true, 7})).dense;
  const auto z = must(b->forward(Features<float>::of(std::as_const(narrow).view()), {true, 7})).dense;
  for (int64_t i = 0; i < 36; ++i) EXPECT_EQ(y.as<float>()[i], z.as<float>()[i]);
}

TEST(Dropout, CompressedFeaturesLoseStoredElementsOnly) {
  const auto rows = random_rows<float>(50, 40, 600, 3);
  auto layer = must(make_dropout<float>(0.5, 0));
  const auto y = must(layer->forward(rows.view(), {true, 7}));
  ASSERT_TRUE(y.is_sparse());
  EXPECT_FALSE(y.constant);
  int64_t kept = 0;
  for (size_t k = 0; k < rows.values.size(); ++k) {
    EXPECT_TRUE(y.values[k] == 0 || y.values[k] == 2 * rows.values[k]);
    kept += y.values[k] != 0;
  }
  EXPECT_GT(kept, 200);
  EXPECT_LT(kept, 400);
}

TEST(Dropout, ProbabilitiesOutsideTheRangeAreRefused) {
  for (const double p : {-0.1, 1.0, 1.5, std::nan("")}) EXPECT_FALSE(make_dropout<float>(p, 0)) << p;
}

}  // namespace
}  // namespace pantile::nn::test
