#include <gtest/gtest.h>

#include <limits>

#include "graph/graph_cases.h"

namespace pantile {
namespace {

void expect_as_naive(const Graph& g, const Edges& e) {
  const NaiveGraph naive(e);
  EXPECT_EQ(g.rows(), e.rows);
  EXPECT_EQ(g.cols(), e.cols);
  EXPECT_EQ(copy(g.ptr()), naive.ptr);
  EXPECT_EQ(copy(g.col()), naive.col);
  EXPECT_EQ(ids_of(g), naive.order);
}

TEST(GraphBuild, SortsRandomEdgesStably) {
  for (const auto& [rows, cols, edges] : {std::tuple{1, 1, 5},
                                          {3, 7, 40},
                                          {100, 90, 30},
                                          {2708, 2708, 10556},
                                          {70000, 3, 50000},
                                          {5, 70000, 50000},
                                          {300000, 300000, 20000},
                                          {1000, 1000, 300000}}) {
    const Edges e = random_edges(rows, cols, edges, 1);
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols) + ", " + std::to_string(edges));
    expect_as_naive(graph_of(e), e);
  }
}

TEST(GraphBuild, MillionEdgesAreTheSameForAnyThreadCount) {
  const Edges e = random_edges(50000, 50000, 1'000'000, 2);
  expect_as_naive(graph_of(e), e);
  const Graph expected = graph_of(e);
  for (const int threads : {1, 2, 4, 8}) {
    const Threads scope(threads);
    const Graph g = graph_of(e);
    EXPECT_TRUE(same_graph(g, expected)) << threads;
    EXPECT_EQ(g.fingerprint(), expected.fingerprint()) << threads;
    EXPECT_TRUE(same_graph(*g.reversed(), *expected.reversed())) << threads;
    EXPECT_TRUE(same_graph(*g.symmetrised(), *graph_of(e).symmetrised())) << threads;
  }
}

TEST(GraphBuild, HubRowOfAMillionEdgesIsSorted) {
  Edges e = random_edges(1, 60000, 1'000'000, 3);
  e.rows = 50000;
  for (int64_t& d : e.dst) d = 49999;
  for (const int threads : {1, 2, 4}) {
    const Threads scope(threads);
    expect_as_naive(graph_of(e), e);
  }
}

TEST(GraphBuild, HubColumnOfDuplicatesKeepsTheCallersOrder) {
  Edges e;
  e.rows = e.cols = 20000;
  for (int64_t i = 0; i < 20000; ++i) {
    e.src.insert(e.src.end(), {7, 19999 - i});
    e.dst.insert(e.dst.end(), {3, i});
  }
  expect_as_naive(graph_of(e), e);
}

TEST(GraphBuild, WideIdsTakeTheTwoWordRecords) {
  Edges e = random_edges(1000, 1000, 3000, 4);
  const int64_t big = std::numeric_limits<int32_t>::max();
  e.cols = big;
  for (size_t i = 0; i < e.src.size(); ++i) e.src[i] = big - 1 - e.src[i] * 2'000'003 % big;
  e.rows = 5'000'000;
  for (size_t i = 0; i < e.dst.size(); ++i) e.dst[i] = e.dst[i] * 4999;
  const Graph g = graph_of(e);
  expect_as_naive(g, e);
}

TEST(GraphBuild, SortedInputNeedsNoEdgeIds) {
  Edges e;
  e.rows = e.cols = 1000;
  for (int64_t r = 5; r < 990; r += 3) {
    for (int64_t c = 0; c < 7; ++c) {
      e.src.push_back(c * c + r % 2);
      e.dst.push_back(r);
    }
  }
  const Graph g = graph_of(e);
  expect_as_naive(g, e);
  EXPECT_TRUE(g.edge_id().empty());
}

TEST(GraphBuild, InputSortedBySourceGivesTheSameAsShuffledInput) {
  Edges e = random_edges(5000, 5000, 200000, 5);
  const NaiveGraph naive(Edges{e.cols, e.rows, e.dst, e.src});
  Edges by_source{e.rows, e.cols, {}, {}};
  for (const int64_t k : naive.order) {
    by_source.src.push_back(e.src[static_cast<size_t>(k)]);
    by_source.dst.push_back(e.dst[static_cast<size_t>(k)]);
  }
  expect_as_naive(graph_of(by_source), by_source);
}

TEST(GraphBuild, Int32AndInt64InputAgree) {
  const Edges e = random_edges(3000, 2000, 100000, 6);
  const std::vector<int32_t> src(e.src.begin(), e.src.end()), dst(e.dst.begin(), e.dst.end());
  EXPECT_TRUE(same_graph(*Graph::from_edges(src, dst, 3000, 2000), graph_of(e)));
}

TEST(GraphBuild, ParallelEdgesAreKept) {  // a multigraph silently made simple
  const Edges e{11, 11, {0, 1, 1, 3, 3, 5, 10}, {0, 2, 2, 4, 4, 2, 5}};
  const Graph g = graph_of(e);
  EXPECT_EQ(g.edges(), 7);
  std::vector<int64_t> degree;
  for (size_t r = 0; r < 11; ++r) degree.push_back(g.ptr()[r + 1] - g.ptr()[r]);
  EXPECT_EQ(degree, (std::vector<int64_t>{1, 0, 3, 0, 2, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(g.profile().duplicates, 2);
}

TEST(GraphBuild, EmptyGraphsAreLegal) {
  EXPECT_EQ(Graph().edges(), 0);
  EXPECT_EQ(Graph().ptr().size(), 1u);
  EXPECT_EQ(Graph().transposed().csr.rows, 0);
  EXPECT_EQ(Graph().profile().edges, 0);
  EXPECT_TRUE(Graph().with_self_loops().has_value());
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{0, 0}, {0, 5}, {5, 0}, {4, 9}}) {
    const auto g = Graph::from_edges(std::span<const int64_t>(), {}, rows, cols);
    ASSERT_TRUE(g.has_value());
    EXPECT_EQ(g->edges(), 0);
    EXPECT_EQ(copy(g->ptr()), std::vector<int64_t>(static_cast<size_t>(rows) + 1));
    EXPECT_EQ(g->reversed()->rows(), cols);
    EXPECT_EQ(g->profile().empty_rows, rows);
    EXPECT_EQ(g->profile().empty_cols, cols);
  }
  EXPECT_EQ(Graph::from_edges(std::span<const int64_t>(), {}, -1, -1)->rows(), 0);
}

TEST(GraphBuild, NodeCountOnRequestIsOneMoreThanTheLargestId) {
  const std::vector<int64_t> src = {4, 0}, dst = {1, 2};
  const Graph g = *Graph::from_edges(src, dst, -1, -1);
  EXPECT_EQ(g.rows(), 3);
  EXPECT_EQ(g.cols(), 5);
}

TEST(GraphBuild, UnsortedCsrIsSortedAndRemembersItsOrder) {
  const std::vector<int64_t> ptr = {0, 3, 3, 7}, col = {2, 0, 2, 1, 1, 0, 1};
  const Graph g = *Graph::from_csr(3, 3, ptr, col);
  EXPECT_EQ(copy(g.ptr()), ptr);
  EXPECT_EQ(copy(g.col()), (std::vector<int32_t>{0, 2, 2, 0, 1, 1, 1}));
  EXPECT_EQ(copy(g.edge_id()), (std::vector<int64_t>{1, 0, 2, 5, 3, 4, 6}));
  const std::vector<int32_t> col32(col.begin(), col.end());
  EXPECT_TRUE(same_graph(*Graph::from_csr(3, 3, ptr, col32), g));
}

TEST(GraphBuild, UnsortedCsrWithAHubRowMatchesTheEdgeBuilder) {
  Edges e = random_edges(4, 900000, 700000, 7);
  std::sort(e.dst.begin(), e.dst.end());
  std::vector<int64_t> ptr(5);
  for (const int64_t d : e.dst) ++ptr[static_cast<size_t>(d) + 1];
  std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
  EXPECT_TRUE(same_graph(*Graph::from_csr(4, 900000, ptr, e.src), graph_of(e)));
  const std::vector<int64_t> one_row = {0, 700000};
  Edges single{1, 900000, e.src, std::vector<int64_t>(700000)};
  EXPECT_TRUE(same_graph(*Graph::from_csr(1, 900000, one_row, e.src), graph_of(single)));
}

TEST(GraphBuild, BorrowedCsrIsNotCopiedAndKeepsItsOwner) {
  auto owner = std::make_shared<std::pair<std::vector<int64_t>, std::vector<int32_t>>>();
  owner->first = {0, 2, 3};
  owner->second = {0, 1, 1};
  const int32_t* const col = owner->second.data();
  const std::weak_ptr<const void> watch = owner;
  const int64_t* const ptr = owner->first.data();
  auto g = Graph::borrow_csr(2, 2, ptr, col, std::move(owner));
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->col().data(), col);
  EXPECT_FALSE(watch.expired());
  *g = Graph();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace pantile
