#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "graph/graph_cases.h"
#include "pantile/graph/generate.h"

namespace pantile {
namespace {

struct Points {
  int64_t n, d;
  std::vector<float> x;
  ConstMatrix matrix() const { return matrix_of(x.data(), n, d); }
};

Points random_points(int64_t n, int64_t d, uint64_t seed) {
  Points p{n, d, std::vector<float>(static_cast<size_t>(n * d))};
  Random random(seed);
  for (float& v : p.x) v = static_cast<float>(random.normal());
  return p;
}

/// Brute force in double, nearest first, smaller ids first among equals.
std::vector<int32_t> naive(const Points& p, int k, Metric metric) {
  std::vector<int32_t> out;
  const auto at = [&](int64_t i, int64_t c) { return static_cast<double>(p.x[static_cast<size_t>(i * p.d + c)]); };
  for (int64_t i = 0; i < p.n; ++i) {
    std::vector<std::pair<double, int32_t>> all;
    for (int64_t j = 0; j < p.n; ++j) {
      if (j == i) continue;
      double dot = 0, ii = 0, jj = 0, distance = 0;
      for (int64_t c = 0; c < p.d; ++c) {
        dot += at(i, c) * at(j, c);
        ii += at(i, c) * at(i, c);
        jj += at(j, c) * at(j, c);
        distance += (at(i, c) - at(j, c)) * (at(i, c) - at(j, c));
      }
      const double norm = std::sqrt(ii) * std::sqrt(jj);
      all.emplace_back(metric == Metric::euclidean ? distance : norm > 0 ? -dot / norm : 0, static_cast<int32_t>(j));
    }
    std::sort(all.begin(), all.end());
    std::vector<int32_t> row;
    for (int r = 0; r < k; ++r) row.push_back(all[static_cast<size_t>(r)].second);
    std::sort(row.begin(), row.end());
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

TEST(Neighbours, MatchBruteForce) {
  for (const auto& [n, d, k] : {std::tuple{2, 3, 1}, {17, 1, 4}, {300, 20, 7}, {1300, 5, 10}, {257, 64, 256}}) {
    const Points p = random_points(n, d, 1);
    for (const Metric metric : {Metric::cosine, Metric::euclidean}) {
      const Graph g = *nearest_neighbours(p.matrix(), k, metric, false);
      EXPECT_EQ(copy(g.col()), naive(p, k, metric)) << n << " x " << d;
      EXPECT_EQ(g.profile().self_loops, 0);
    }
  }
}

TEST(Neighbours, TiesGoToTheSmallerIdAlsoAmongManyEqualRows) {
  Points p{900, 3, std::vector<float>(2700)};
  Random random(3);
  for (float& v : p.x) v = static_cast<float>(random.below(3)) - 1;  // 27 distinct points: distances tie everywhere
  for (const Metric metric : {Metric::cosine, Metric::euclidean}) {
    EXPECT_EQ(copy(nearest_neighbours(p.matrix(), 5, metric, false)->col()), naive(p, 5, metric));
  }
}

TEST(Neighbours, ResultIsTheSameForAnyThreadCount) {
  const Points p = random_points(2000, 30, 4);
  const Graph expected = *nearest_neighbours(p.matrix(), 6, Metric::cosine, true);
  EXPECT_TRUE(expected.profile().symmetric);
  EXPECT_EQ(expected.profile().duplicates, 0);
  EXPECT_TRUE(expected.edge_id().empty());
  for (const int threads : {1, 2, 4, 8}) {
    const Threads scope(threads);
    EXPECT_TRUE(same_graph(*nearest_neighbours(p.matrix(), 6, Metric::cosine, true), expected));
  }
}

TEST(Neighbours, HugeTinyAndZeroValuesKeepTheirOrder) {
  for (const float scale : {1e38f, 1e-30f}) {
    Points p = random_points(60, 4, 5);
    const auto expected = naive(p, 3, Metric::cosine);
    for (float& v : p.x) v *= scale / 8;
    EXPECT_EQ(copy(nearest_neighbours(p.matrix(), 3, Metric::cosine, false)->col()), expected);
    EXPECT_EQ(nearest_neighbours(p.matrix(), 3, Metric::euclidean, false)->edges(), 180);
  }
  const Points zeros{10, 4, std::vector<float>(40)};
  for (const Metric metric : {Metric::cosine, Metric::euclidean}) {
    EXPECT_EQ(copy(nearest_neighbours(zeros.matrix(), 2, metric, false)->col()), naive(zeros, 2, metric));
  }
  const Points no_columns{5, 0, {}};
  EXPECT_EQ(nearest_neighbours(no_columns.matrix(), 2, Metric::cosine, false)->edges(), 10);
}

TEST(Neighbours, StridedRowsAreReadAsTheyLie) {
  const Points p = random_points(50, 6, 6);
  std::vector<float> padded(50 * 9, NAN);
  for (size_t i = 0; i < 50; ++i)
    std::copy_n(p.x.begin() + static_cast<std::ptrdiff_t>(i * 6), 6,
                padded.begin() + static_cast<std::ptrdiff_t>(i * 9));
  const ConstMatrix strided{padded.data(), DType::f32, 50, 6, 9};
  EXPECT_TRUE(same_graph(*nearest_neighbours(strided, 3, Metric::euclidean, false),
                         *nearest_neighbours(p.matrix(), 3, Metric::euclidean, false)));
}

TEST(Neighbours, BadInputIsNamed) {
  Points p = random_points(5, 3, 7);
  EXPECT_EQ(nearest_neighbours(p.matrix(), 5, Metric::cosine, false).error().message,
            "k is 5; 5 rows have between 1 and 4 neighbours");
  EXPECT_EQ(nearest_neighbours(p.matrix(), 0, Metric::cosine, false).error().code, ErrorCode::invalid_argument);
  p.x[7] = NAN;
  EXPECT_EQ(nearest_neighbours(p.matrix(), 2, Metric::cosine, false).error().message,
            "x[2, 1] is nan; nearest neighbours need finite values");
  const std::vector<double> doubles(15);
  EXPECT_EQ(nearest_neighbours(matrix_of(doubles.data(), 5, 3), 2, Metric::cosine, false).error().message,
            "nearest neighbours take float32 rows; x is float64");
  EXPECT_EQ(nearest_neighbours(matrix_of(p.x.data(), 0, 3), 2, Metric::cosine, false)->rows(), 0);
}

TEST(Neighbours, ProgressCountsEveryNodeAndCanStopTheSearch) {
  struct Count : Progress {
    void begin(const std::string&, int64_t n, const std::string&) override { total = n; }
    void advance(int64_t steps) override { done += steps; }
    void note(const std::string&) override {}
    void end() override { ended = true; }
    bool cancelled() const override { return stop; }
    std::atomic<int64_t> done{0};
    int64_t total = 0;
    bool ended = false, stop = false;
  } count;
  const Points p = random_points(700, 8, 8);
  EXPECT_TRUE(nearest_neighbours(p.matrix(), 2, Metric::cosine, false, &count).has_value());
  EXPECT_EQ(count.total, 700);
  EXPECT_EQ(count.done, 700);
  EXPECT_TRUE(count.ended);
  count.stop = true;
  EXPECT_FALSE(nearest_neighbours(p.matrix(), 2, Metric::cosine, false, &count).has_value());
}

}  // namespace
}  // namespace pantile
