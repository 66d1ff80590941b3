#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "graph/graph_cases.h"
#include "pantile/graph/generate.h"
#include "pantile/graph/reorder.h"

namespace pantile {
namespace {

constexpr Reordering kAll[] = {Reordering::degree, Reordering::bfs, Reordering::rcm, Reordering::community};

int64_t bandwidth(const Graph& g) {
  int64_t most = 0;
  for (int64_t r = 0; r < g.rows(); ++r) {
    for (int64_t k = g.csr().ptr[r]; k < g.csr().ptr[r + 1]; ++k) most = std::max(most, std::abs(r - g.csr().col[k]));
  }
  return most;
}

TEST(Reorder, EveryOrderRenamesTheSameEdges) {
  for (const Edges& e :
       {random_edges(500, 500, 3000, 1), random_edges(40, 40, 10, 2), Edges{0, 0, {}, {}}, Edges{5, 5, {}, {}}}) {
    const Graph g = graph_of(e);
    for (const Reordering how : kAll) {
      const Reordered r = *reorder(g, how);
      const std::set<int64_t> names(r.new_of_old.begin(), r.new_of_old.end());
      ASSERT_EQ(static_cast<int64_t>(names.size()), g.rows());
      if (!names.empty()) {
        EXPECT_EQ(*names.rbegin(), g.rows() - 1);
      }
      const auto ids = ids_of(r.graph);
      std::vector<int64_t> row_of(static_cast<size_t>(g.edges()));
      for (int64_t i = 0; i < g.rows(); ++i)
        std::fill(row_of.begin() + g.csr().ptr[i], row_of.begin() + g.csr().ptr[i + 1], i);
      for (int64_t i = 0; i < g.rows(); ++i) {
        for (int64_t k = r.graph.csr().ptr[i]; k < r.graph.csr().ptr[i + 1]; ++k) {
          const auto old = static_cast<size_t>(ids[static_cast<size_t>(k)]);
          EXPECT_EQ(r.new_of_old[static_cast<size_t>(row_of[old])], i);
          EXPECT_EQ(r.new_of_old[static_cast<size_t>(g.col()[old])], r.graph.csr().col[k]);
        }
      }
    }
  }
}

TEST(Reorder, OrdersAreTheSameForAnyThreadCount) {
  const Graph g = *generate_rmat({.scale = 12});
  for (const Reordering how : kAll) {
    const Reordered expected = *reorder(g, how);
    for (const int threads : {1, 4}) {
      const Threads scope(threads);
      const Reordered r = *reorder(g, how);
      EXPECT_EQ(r.new_of_old, expected.new_of_old);
      EXPECT_TRUE(same_graph(r.graph, expected.graph));
    }
  }
}

TEST(Reorder, DegreeOrderFallsAndKeepsIdsAmongEquals) {
  const Edges e{4, 4, {0, 1, 2, 0, 1}, {3, 3, 1, 2, 1}};
  EXPECT_EQ(reorder(graph_of(e), Reordering::degree)->new_of_old, (std::vector<int64_t>{3, 0, 2, 1}));
}

TEST(Reorder, RcmNarrowsTheBandOfAScrambledGrid) {
  const Graph grid = *generate_grid(40, 25);
  std::vector<int64_t> name(1000);
  std::iota(name.begin(), name.end(), int64_t{0});
  Random random(1);
  for (size_t i = 999; i > 0; --i) std::swap(name[i], name[random.below(i + 1)]);
  Edges e{1000, 1000, {}, {}};
  for (int64_t r = 0; r < 1000; ++r) {
    for (int64_t k = grid.csr().ptr[r]; k < grid.csr().ptr[r + 1]; ++k) {
      e.src.push_back(name[static_cast<size_t>(grid.csr().col[k])]);
      e.dst.push_back(name[static_cast<size_t>(r)]);
    }
  }
  const Graph scrambled = graph_of(e);
  EXPECT_GT(bandwidth(scrambled), 500);
  EXPECT_LE(bandwidth(reorder(scrambled, Reordering::rcm)->graph), 40);
  EXPECT_LE(bandwidth(reorder(scrambled, Reordering::bfs)->graph), 100);
}

TEST(Reorder, CommunityOrderBringsScrambledCommunitiesTogether) {
  const Graph g = *generate_community({.nodes = 32768, .scramble = true});
  const Reordered r = *reorder(g, Reordering::community);
  const ReorderForecast f = *forecast_reorder(g, r, 0.5);
  EXPECT_LT(f.unit_distinct_after, 0.6 * f.unit_distinct_before);
  EXPECT_LT(f.distinct_after, 0.7 * f.distinct_before);
  EXPECT_GT(f.predicted_speedup, 1.2);
  EXPECT_TRUE(std::isfinite(f.pays_after_calls));
  EXPECT_EQ(f.reorder_seconds, 0.5);
}

TEST(Reorder, ForecastOfNoChangeNeverPays) {
  const Graph g = *generate_rmat({.scale = 10});
  std::vector<int64_t> same(1024);
  std::iota(same.begin(), same.end(), int64_t{0});
  const ReorderForecast f = *forecast_reorder(g, Reordered{g, same}, 0.1);
  EXPECT_EQ(f.predicted_speedup, 1.0);
  EXPECT_TRUE(std::isinf(f.pays_after_calls));
  EXPECT_FALSE(forecast_reorder(g, Reordered{Graph(), {}}, 0.1).has_value());
}

TEST(Reorder, NeedsASquareGraph) {
  EXPECT_EQ(reorder(graph_of(random_edges(3, 4, 5, 1)), Reordering::bfs).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace pantile
