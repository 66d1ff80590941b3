#include <gtest/gtest.h>
#include <sys/mman.h>

#include <pantile/core/thread_pool.h>
#include <pantile/sparse/spmm.h>
#include <cstring>
#include <limits>

#include "support/graphs.h"
#include "support/oracle.h"

namespace pantile::sparse {
namespace {

using test::Features;
using test::graph_of;
using test::Values;

constexpr DType kStorage[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> run(const Graph& g, Reduce reduce, std::vector<float> x, int64_t width, EdgeValues w = {},
                       Direction d = Direction::by_row) {
  const Plan plan = Plan::of(g);
  std::vector<float> y(static_cast<size_t>(plan.csr(d).rows * width), kNaN);
  const auto status = spmm(plan, d, reduce, matrix_of(std::as_const(x).data(), plan.csr(d).cols, width), w,
                           matrix_of(y.data(), plan.csr(d).rows, width));
  EXPECT_TRUE(status) << status.error().message;
  return y;
}

// dmlc/dgl#761
TEST(Spmm, MaxOfNodeWithoutInEdgesIsZero) {
  const Graph g = graph_of({0, 1, 2, 3}, {1, 2, 3, 4}, 5, 5);
  EXPECT_EQ(run(g, Reduce::max, {1, -2, 3, -4, 5}, 1), (std::vector<float>{0, 1, -2, 3, -4}));
  std::vector<float> x{1, -2, 3, -4, 5}, y(5), ones(5, 1), dx(5, kNaN);
  std::vector<int64_t> arg(5);
  const Plan plan = Plan::of(g);
  ASSERT_TRUE(
      spmm_arg(plan, Reduce::max, matrix_of(std::as_const(x).data(), 5, 1), {}, matrix_of(y.data(), 5, 1), arg.data()));
  EXPECT_EQ(arg, (std::vector<int64_t>{-1, 0, 1, 2, 3}));
  ASSERT_TRUE(spmm_grad_x(plan, Reduce::max, {}, matrix_of(std::as_const(ones).data(), 5, 1), arg.data(),
                          matrix_of(dx.data(), 5, 1)));
  EXPECT_EQ(dx, (std::vector<float>{1, 1, 1, 1, 0}));
}

// dmlc/dgl#2777
TEST(Spmm, GraphWithoutEdgesGivesZerosForEveryReduction) {
  for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::min, Reduce::max}) {
    EXPECT_EQ(run(graph_of({}, {}, 2, 2), reduce, {1, 2, 3, 4, 5, 6, 7, 8}, 4), std::vector<float>(8, 0));
    EXPECT_EQ(run(graph_of({}, {}, 1, 1), reduce, {1, 2, 3, 4}, 4), std::vector<float>(4, 0));
    EXPECT_EQ(run(Graph(), reduce, {}, 4), std::vector<float>());
  }
}

// dmlc/dgl#1335
TEST(Spmm, ParallelEdgesCountEachTime) {
  const auto y =
      run(graph_of({0, 1, 1, 3, 3, 5, 10}, {0, 2, 2, 4, 4, 2, 5}, 11, 11), Reduce::sum, std::vector<float>(11, 1), 1);
  EXPECT_EQ(y, (std::vector<float>{1, 0, 3, 0, 2, 1, 0, 0, 0, 0, 0}));
}

// dmlc/dgl#6049: rows further apart than they are wide
TEST(Spmm, RowStrideOfFeaturesIsHonoured) {
  const Graph g = graph_of({0, 2, 3, 1}, {0, 1, 1, 2}, 4, 4);
  const std::vector<float> w{2, 3, 1, 4};
  std::vector<float> x(40), y(20, kNaN);
  for (int i = 0; i < 40; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i);
  std::vector<float> strided(4 * 13);
  for (int i = 0; i < 4; ++i)
    for (int f = 0; f < 5; ++f) strided[static_cast<size_t>(i * 13 + f)] = x[static_cast<size_t>(i * 10 + f * 2)];
  ASSERT_TRUE(spmm(Plan::of(g), Direction::by_row, Reduce::sum, {strided.data(), DType::f32, 4, 5, 13}, {w.data()},
                   matrix_of(y.data(), 4, 5)));
  EXPECT_EQ(y, (std::vector<float>{0, 4, 8, 12, 16, 90, 98, 106, 114, 122, 40, 48, 56, 64, 72, 0, 0, 0, 0, 0}));
}

// rusty1s/pytorch_sparse#174
TEST(Spmm, RepeatedCallsGiveTheSameBits) {
  const Graph identity = graph_of({0, 1}, {0, 1}, 2, 2), empty = graph_of({}, {}, 2, 2);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(run(identity, Reduce::sum, {2, 3, 0, 4}, 2), (std::vector<float>{2, 3, 0, 4}));
    ASSERT_EQ(run(empty, Reduce::sum, {2, 3, 0, 4}, 2), (std::vector<float>{0, 0, 0, 0}));
  }
}

// pytorch/pytorch#90836
TEST(Spmm, EmptyProductsWriteEveryElement) {
  for (const DType t : kStorage)
    for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::min, Reduce::max})
      for (const auto& [rows, cols, width] : {std::tuple{2, 4, 3}, {0, 4, 3}, {3, 0, 5}, {2, 4, 0}, {0, 0, 0}}) {
        const Features x = Features::random(t, cols, width, 1);
        Features y(t, rows, width, 2);
        ASSERT_TRUE(
            spmm(Plan::of(graph_of({}, {}, rows, cols)), Direction::by_row, reduce, x.matrix(), {}, y.matrix()));
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t f = 0; f < width; ++f) EXPECT_EQ(y(i, f), 0.0);
        EXPECT_TRUE(y.untouched_outside());
      }
}

// rusty1s/pytorch_scatter#269
TEST(Spmm, HalfPrecisionSumsAccumulateInSinglePrecision) {
  const Graph g = graph_of(std::vector<int64_t>(4096, 0), std::vector<int64_t>(4096, 0), 1, 1);
  for (const DType t : {DType::f16, DType::bf16}) {
    Features x(t, 1, 1), y(t, 1, 1);
    x.set(0, 0, 1);
    ASSERT_TRUE(spmm(Plan::of(g), Direction::by_row, Reduce::sum, x.matrix(), {}, y.matrix()));
    EXPECT_EQ(y(0, 0), 4096);
    ASSERT_TRUE(spmm(Plan::of(g), Direction::by_row, Reduce::mean, x.matrix(), {}, y.matrix()));
    EXPECT_EQ(y(0, 0), 1);
  }
}

TEST(Spmm, HubOfTwentyThousandDuplicatesIsExact) {
  const Graph g = graph_of(std::vector<int64_t>(20'000, 1), std::vector<int64_t>(20'000, 0), 2, 2);
  EXPECT_EQ(run(g, Reduce::sum, {7, 1.5f}, 1), (std::vector<float>{30'000, 0}));
  EXPECT_EQ(run(g, Reduce::mean, {7, 1.5f}, 1), (std::vector<float>{1.5f, 0}));
  EXPECT_EQ(run(g, Reduce::max, {7, -1.5f}, 1), (std::vector<float>{-1.5f, 0}));
}

TEST(Spmm, NaNWinsMinAndMaxAndNothingReplacesIt) {
  const Graph g = graph_of({0, 1, 2, 3, 0, 2, 3, 2}, {0, 0, 0, 0, 1, 1, 2, 2}, 3, 4);
  const std::vector<float> x{1, kNaN, 5, -kInf};
  for (const Reduce reduce : {Reduce::min, Reduce::max})
    for (const int64_t width : {1, 8, 11}) {
      std::vector<float> wide;
      for (const float v : x) wide.insert(wide.end(), static_cast<size_t>(width), v);
      const auto y = run(g, reduce, wide, width);
      for (int64_t f = 0; f < width; ++f) {
        EXPECT_TRUE(std::isnan(y[static_cast<size_t>(f)]));
        EXPECT_EQ(y[static_cast<size_t>(width + f)], reduce == Reduce::max ? 5 : 1);
        EXPECT_EQ(y[static_cast<size_t>(2 * width + f)], reduce == Reduce::max ? 5 : -kInf);
      }
    }
}

TEST(SpmmArg, FirstOfEqualsAndFirstNaNWin) {
  const Graph g = graph_of({0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 1, 1}, 2, 6);
  std::vector<float> x{3, 3, 3, 2, kNaN, kNaN}, y(2);
  std::vector<int64_t> arg(2);
  for (const Reduce reduce : {Reduce::min, Reduce::max}) {
    ASSERT_TRUE(spmm_arg(Plan::of(g), reduce, matrix_of(std::as_const(x).data(), 6, 1), {}, matrix_of(y.data(), 2, 1),
                         arg.data()));
    EXPECT_EQ(arg, (std::vector<int64_t>{0, 4}));
  }
}

TEST(SpmmArg, FirstWinnerHoldsAcrossTheSegmentsOfAHub) {
  const Graph g = graph_of(std::vector<int64_t>(20'000, 0), std::vector<int64_t>(20'000, 0), 1, 1);
  std::vector<float> x(9, 2), y(9);
  std::vector<int64_t> arg(9, 77);
  ASSERT_TRUE(spmm_arg(Plan::of(g), Reduce::max, matrix_of(std::as_const(x).data(), 1, 9), {},
                       matrix_of(y.data(), 1, 9), arg.data()));
  EXPECT_EQ(arg, std::vector<int64_t>(9, 0));
}

TEST(SpmmGrad, InfinityOfALosingRowDoesNotReachTheGradient) {
  const Graph g = graph_of({0, 1, 0}, {0, 0, 1}, 2, 2);
  const std::vector<float> x{1, 2}, dy{3, kInf};
  std::vector<float> y(2), dx(2);
  std::vector<int64_t> arg(2);
  ASSERT_TRUE(spmm_arg(Plan::of(g), Reduce::max, matrix_of(x.data(), 2, 1), {}, matrix_of(y.data(), 2, 1), arg.data()));
  ASSERT_TRUE(
      spmm_grad_x(Plan::of(g), Reduce::max, {}, matrix_of(dy.data(), 2, 1), arg.data(), matrix_of(dx.data(), 2, 1)));
  EXPECT_EQ(dx, (std::vector<float>{kInf, 3}));
  arg = {1, -1};
  ASSERT_TRUE(
      spmm_grad_x(Plan::of(g), Reduce::max, {}, matrix_of(dy.data(), 2, 1), arg.data(), matrix_of(dx.data(), 2, 1)));
  EXPECT_EQ(dx, (std::vector<float>{0, 3}));
}

// TC-GNN computes the gradient with A in place of its transpose, which shows on directed graphs only.
TEST(SpmmGrad, DirectedGraphsUseTheTranspose) {
  const Graph g = graph_of({1, 2}, {0, 0}, 3, 3);
  const std::vector<float> dy{5, 0, 0};
  std::vector<float> dx(3);
  ASSERT_TRUE(
      spmm_grad_x(Plan::of(g), Reduce::sum, {}, matrix_of(dy.data(), 3, 1), nullptr, matrix_of(dx.data(), 3, 1)));
  EXPECT_EQ(dx, (std::vector<float>{0, 5, 5}));
  ASSERT_TRUE(
      spmm_grad_x(Plan::of(g), Reduce::mean, {}, matrix_of(dy.data(), 3, 1), nullptr, matrix_of(dx.data(), 3, 1)));
  EXPECT_EQ(dx, (std::vector<float>{0, 2.5f, 2.5f}));
}

// TC-GNN ignores edge weights, drops the remainder of the width over 16 and everything over 128, and needs rows % 16 ==
// 0.
TEST(Spmm, WeightsWidthsAndRowCountsOffEveryMultipleAreComputed) {
  for (const int64_t rows : {1, 15, 17, 33})
    for (const int64_t width : {15, 17, 129, 200, 257}) {
      const Graph g = test::random_graph(rows, 23, rows * 5, 3);
      const Features x = Features::random(DType::f32, 23, width, 4);
      const Values w(DType::f32, g.edges(), 1, 5);
      Features y(DType::f32, rows, width);
      ASSERT_TRUE(spmm(Plan::of(g), Direction::by_row, Reduce::sum, x.matrix(), {w.data()}, y.matrix()));
      EXPECT_EQ(test::first_difference(test::spmm_oracle(g, Direction::by_row, Reduce::sum, x, &w), y), "")
          << rows << " x " << width;
    }
}

// TC-GNN keeps edge ids in floats: beyond 2^24 neighbouring ids fall together.
TEST(Spmm, EdgePositionsBeyondTwoToTheTwentyFourAreExact) {
  constexpr int64_t kRows = 64, kEdges = (int64_t{1} << 24) + 5 * kRows;
  std::vector<int64_t> ptr(kRows + 1);
  for (int64_t i = 0; i <= kRows; ++i) ptr[static_cast<size_t>(i)] = kEdges * i / kRows;
  std::vector<int32_t> col(kEdges, 0);
  for (int64_t i = 0; i < kRows; ++i) col[static_cast<size_t>(ptr[static_cast<size_t>(i + 1)] - 1)] = 1;
  const Graph g = Graph::borrow_csr(kRows, 2, ptr.data(), col.data(), nullptr).value();
  const std::vector<float> x{0, 1};
  std::vector<float> y(kRows);
  std::vector<int64_t> arg(kRows);
  ASSERT_TRUE(
      spmm_arg(Plan::of(g), Reduce::max, matrix_of(x.data(), 2, 1), {}, matrix_of(y.data(), kRows, 1), arg.data()));
  for (int64_t i = 0; i < kRows; ++i) EXPECT_EQ(arg[static_cast<size_t>(i)], ptr[static_cast<size_t>(i + 1)] - 1);
}

TEST(Spmm, ElementOffsetsBeyondTwoToTheThirtyTwoAreExact) {
  constexpr int64_t kStride = (int64_t{1} << 32) + 16;
  constexpr size_t kBytes = (2 * kStride + 8) * sizeof(float);
  void* memory[2];
  for (void*& m : memory) {
    m = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(m, MAP_FAILED);
  }
  float *x = static_cast<float*>(memory[0]), *y = static_cast<float*>(memory[1]);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t f = 0; f < 3; ++f) x[i * kStride + f] = static_cast<float>(10 * i + f);
  const Graph g = graph_of({2, 1, 0, 2}, {0, 1, 2, 2}, 3, 3);
  for (const Reduce reduce : {Reduce::sum, Reduce::max})
    for (const Direction d : {Direction::by_row, Direction::by_column}) {
      ASSERT_TRUE(spmm(Plan::of(g), d, reduce, {x, DType::f32, 3, 3, kStride}, {}, {y, DType::f32, 3, 3, kStride}));
      EXPECT_EQ(y[kStride + 1], 11);
      EXPECT_EQ(y[2 * kStride + 2], reduce == Reduce::sum && d == Direction::by_row ? 24
                                    : d == Direction::by_row                        ? 22
                                    : reduce == Reduce::sum                         ? 24
                                                                                    : 22);
      EXPECT_EQ(y[0], d == Direction::by_row ? 20 : 20);
    }
  for (void* m : memory) munmap(m, kBytes);
}

TEST(Spmm, ThreadCountNeverChangesABit) {
  const Graph g = [] {
    Random r(9);
    std::vector<int64_t> src, dst;
    for (int64_t k = 0; k < 60'000; ++k) {
      const double u = r.uniform_double();
      src.push_back(static_cast<int64_t>(r.below(3000)));
      dst.push_back(static_cast<int64_t>(3000 * u * u * u));
    }
    for (int64_t k = 0; k < 20'000; ++k) {
      src.push_back(static_cast<int64_t>(r.below(3000)));
      dst.push_back(1234);
    }
    return graph_of(std::move(src), std::move(dst), 3000, 3000);
  }();
  for (const DType t : kStorage)
    for (const int64_t width : {7, 16, 64, 129}) {
      const Features x = Features::random(t, 3000, width, 21);
      const Values w(t, g.edges(), 1, 22);
      for (const Reduce reduce : {Reduce::sum, Reduce::mean, Reduce::min, Reduce::max})
        for (const Direction d : {Direction::by_row, Direction::by_column}) {
          std::vector<unsigned char> first;
          for (const int threads : {1, 2, 4, 8}) {
            set_num_threads(threads);
            Features y(t, 3000, width);
            ASSERT_TRUE(spmm(Plan::of(g), d, reduce, x.matrix(), {w.data(), w.dtype(), 1}, y.matrix()));
            if (threads == 1) first = y.bytes();
            EXPECT_EQ(y.bytes(), first) << name(t) << " width " << width << " threads " << threads;
          }
        }
    }
  set_num_threads(0);
}

TEST(Spmm, ErrorsNameTheOperandAndWhatItShouldBe) {
  const Graph g = graph_of({0, 1}, {1, 0}, 2, 3);
  const Plan plan = Plan::of(g);
  std::vector<float> x(12), y(12);
  const std::vector<float> w(8);
  const auto message = [&](ConstMatrix in, EdgeValues values, Matrix out) {
    const auto s = spmm(plan, Direction::by_row, Reduce::sum, in, values, out);
    return s ? std::string("no error") : s.error().message;
  };
  const auto in = matrix_of(std::as_const(x).data(), 3, 4);
  const auto out = matrix_of(y.data(), 2, 4);
  EXPECT_EQ(message(matrix_of(std::as_const(x).data(), 2, 4), {}, out), "x is 2 x 4, expected 3 x 4");
  EXPECT_EQ(message(in, {}, matrix_of(y.data(), 3, 4)), "y is 3 x 4, expected 2 x 4");
  EXPECT_EQ(message(in, {w.data(), DType::f32, 3}, out), "3 heads do not divide the feature width 4");
  EXPECT_EQ(message(in, {w.data(), DType::f64, 1}, out),
            "edge values have dtype float64; float32 features need float32");
  EXPECT_EQ(message(in, {w.data(), DType::f32, 0}, out), "edge values have 0 heads, at least 1 is needed");
  EXPECT_NE(message(in, {}, matrix_of(x.data() + 4, 2, 4)).find("y overlaps x"), std::string::npos);
  EXPECT_NE(message({x.data(), DType::f32, 3, 4, 3}, {}, out).find("row stride"), std::string::npos);
  EXPECT_NE(message({nullptr, DType::f32, 3, 4, 4}, {}, out).find("null"), std::string::npos);
  EXPECT_NE(message({x.data(), DType::i32, 3, 4, 4}, {}, out).find("int32"), std::string::npos);
  EXPECT_EQ(message(in, {}, out), "no error");
}

}  // namespace
}  // namespace pantile::sparse
