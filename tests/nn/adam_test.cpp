#include <pantile/nn/adam.h>
#include <pantile/nn/init.h>
#include <cmath>

#include "nn/small_data.h"

namespace pantile::nn::test {
namespace {

TEST(Adam, ThreeStepsGiveTorchsNumbers) {
  Random random(1);
  auto p = must(make_parameter<double>("p", {3}, Init::zeros, 0, random));
  p.value(0, 0) = 1.0;
  p.value(0, 1) = -2.0;
  p.value(0, 2) = 0.5;
  auto adam = must(Adam<double>::over({&p}, {0.1, 0.01}));
  const double gradients[3][3] = {{0.5, -1.0, 0.0}, {0.25, 3.0, -2.0}, {-1.5, 0.125, 4.0}};
  for (const auto& g : gradients) {
    std::copy_n(g, 3, p.gradient.data());
    adam.step();
  }
  // torch.optim.Adam([p], lr=0.1, weight_decay=0.01) in float64.
  EXPECT_NEAR(p.value(0, 0), 0.8403715284614363, 1e-14);
  EXPECT_NEAR(p.value(0, 1), -1.9885115491838183, 1e-14);
  EXPECT_NEAR(p.value(0, 2), 0.44265761787404206, 1e-14);
}

TEST(Adam, DecaySparesParametersThatAskForIt) {
  Random random(1);
  auto a = must(make_parameter<double>("a", {1}, Init::zeros, 0, random));
  auto b = must(make_parameter<double>("b", {1}, Init::zeros, 0, random));
  a.value.fill(1);
  b.value.fill(1);
  b.decay = false;
  auto adam = must(Adam<double>::over({&a, &b}, {0.1, 0.5}));
  adam.step();
  EXPECT_LT(a.value(0, 0), 1);
  EXPECT_EQ(b.value(0, 0), 1);
}

TEST(Adam, SenselessOptionsAreRefused) {
  for (const AdamOptions& o : {AdamOptions{0.0}, AdamOptions{-1.0}, AdamOptions{std::nan("")}, AdamOptions{0.1, -0.1},
                               AdamOptions{0.1, 0, 1.0}, AdamOptions{0.1, 0, 0.9, 0.9, 0}}) {
    EXPECT_FALSE(Adam<float>::over({}, o));
  }
}

TEST(Init, BoundsAreThoseOfTorchGeometric) {
  Random random(3);
  const auto glorot = must(make_parameter<double>("w", {30, 70}, Init::glorot, 0, random));
  const auto fan = must(make_parameter<double>("b", {400}, Init::fan_in, 64, random));
  double largest = 0, sum = 0;
  for (const double v : glorot.value.span()) {
    largest = std::max(largest, std::abs(v));
    sum += v;
  }
  const double bound = std::sqrt(6.0 / 100);
  EXPECT_LE(largest, bound);
  EXPECT_GT(largest, 0.99 * bound);
  EXPECT_LT(std::abs(sum / 2100), 0.02);
  for (const double v : fan.value.span()) EXPECT_LE(std::abs(v), 0.125);
}

TEST(Init, AHeadVectorCountsItsTwoLastDimensions) {
  Random random(3);
  const auto attention = must(make_parameter<double>("att", {1, 8, 100}, Init::glorot, 0, random));
  EXPECT_EQ(attention.value.rows(), 8);
  EXPECT_EQ(attention.value.cols(), 100);
  for (const double v : attention.value.span()) EXPECT_LE(std::abs(v), std::sqrt(6.0 / 108));
}

}  // namespace
}  // namespace pantile::nn::test
