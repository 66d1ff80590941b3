#include <pantile/nn/loss.h>
#include <cmath>

#include "nn/small_data.h"

namespace pantile::nn::test {
namespace {

TEST(Loss, CrossEntropyIsTheDefinition) {
  const auto z = random_matrix<double>(5, 3, 1);
  const std::vector<int64_t> labels{2, 0, -1, 1, 1}, mask{0, 1, 4};
  auto gradient = random_matrix<double>(5, 3, 2);
  const auto got = must(cross_entropy(z.view(), labels, mask, gradient.view()));
  double loss = 0;
  for (const int64_t i : mask) {
    double total = 0;
    for (int64_t c = 0; c < 3; ++c) total += std::exp(z(i, c));
    const int64_t label = labels[static_cast<size_t>(i)];
    loss -= std::log(std::exp(z(i, label)) / total) / 3;
    for (int64_t c = 0; c < 3; ++c) EXPECT_NEAR(gradient(i, c), (std::exp(z(i, c)) / total - (c == label)) / 3, 1e-15);
  }
  EXPECT_NEAR(got.loss, loss, 1e-14);
  EXPECT_EQ(got.nodes, 3);
  for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(gradient(2, c), 0) << "a node outside the mask has no gradient";
}

TEST(Loss, LargeLogitsStayFinite) {
  auto z = must(DenseMatrix<float>::zeros(2, 3));
  z(0, 0) = 3e38f;
  z(0, 1) = -3e38f;
  z(1, 2) = 1e30f;
  auto gradient = must(DenseMatrix<float>::zeros(2, 3));
  const std::vector<int64_t> labels{0, 2}, mask{0, 1};
  const auto got = must(cross_entropy(z.view(), labels, mask, gradient.view()));
  EXPECT_EQ(got.loss, 0);
  EXPECT_EQ(got.accuracy, 1);
  for (const float g : gradient.span()) EXPECT_EQ(g, 0);
}

TEST(Loss, AccuracyTakesTheFirstOfEqualLogits) {
  auto z = must(DenseMatrix<float>::zeros(2, 3));
  const std::vector<int64_t> labels{0, 1}, mask{0, 1};
  EXPECT_EQ(must(score(z.view(), labels, mask)).accuracy, 0.5);
}

TEST(Loss, AnEmptyMaskScoresZero) {
  const auto z = random_matrix<float>(4, 2, 1);
  const std::vector<int64_t> labels{0, 1, 0, 1};
  const auto got = must(score(z.view(), labels, {}));
  EXPECT_EQ(got.loss, 0);
  EXPECT_EQ(got.nodes, 0);
}

TEST(Loss, ALabelOutsideTheLogitsIsNamed) {
  const auto z = random_matrix<float>(4, 2, 1);
  const std::vector<int64_t> labels{0, 1, 2, -1};
  for (const int64_t node : {2, 3}) {
    const auto got = score(z.view(), labels, std::vector<int64_t>{node});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::out_of_range);
    EXPECT_NE(got.error().message.find("node " + std::to_string(node)), std::string::npos) << got.error().message;
  }
  EXPECT_FALSE(score(z.view(), labels, std::vector<int64_t>{4}));
  EXPECT_FALSE(score(z.view(), std::vector<int64_t>{0}, {}));
}

}  // namespace
}  // namespace pantile::nn::test
