#include <gtest/gtest.h>

#include <pantile/sparse/plan.h>
#include <set>

#include "sparse/schedule.h"
#include "support/graphs.h"

namespace pantile::sparse {
namespace {

void expect_invariants(const Csr& csr, const Schedule& s, const std::string& name) {
  SCOPED_TRACE(name);
  std::vector<int> covered(static_cast<size_t>(csr.edges()), 0), visited(static_cast<size_t>(csr.rows), 0);
  ASSERT_EQ(s.cost.size(), s.units.size() + 1);
  ASSERT_EQ(s.order.size(), static_cast<size_t>(csr.rows));
  std::set<int64_t> hubs;
  for (const Hub& h : s.hubs) EXPECT_TRUE(hubs.insert(h.row).second);
  int32_t slots = 0;
  for (size_t q = 0; q < s.units.size(); ++q) {
    const Unit& u = s.units[q];
    EXPECT_LE(s.cost[q], s.cost[q + 1]);
    for (int64_t k = u.edge; k < u.edge_end; ++k) ++covered[static_cast<size_t>(k)];
    if (u.slot >= 0) {
      EXPECT_EQ(u.slot, slots++);
      EXPECT_TRUE(hubs.contains(u.row));
      continue;
    }
    EXPECT_EQ(u.edge, csr.ptr[u.row]);
    EXPECT_EQ(u.edge_end, csr.ptr[u.row_end]);
    int64_t before = 0;
    for (int64_t r = u.row; r < u.row_end; ++r) {
      const int32_t i = s.order[static_cast<size_t>(r)];
      EXPECT_TRUE(i >= u.row && i < u.row_end);
      EXPECT_FALSE(hubs.contains(i));
      ++visited[static_cast<size_t>(i)];
      const int64_t degree = csr.ptr[i + 1] - csr.ptr[i],
                    key = sorted_by_degree(u) ? degree : std::min<int64_t>(degree, 1);
      EXPECT_LE(before, key) << "row " << i;
      before = key;
    }
  }
  EXPECT_EQ(slots, s.slots);
  for (const int64_t h : hubs) visited[static_cast<size_t>(h)] += 1;
  for (const int v : visited) EXPECT_EQ(v, 1);
  for (const int c : covered) EXPECT_EQ(c, 1);
}

TEST(Schedule, EveryRowAndEdgeIsInExactlyOneUnit) {
  for (const auto& [name, g] : test::graph_zoo()) {
    expect_invariants(g.csr(), make_schedule(g.csr()), name);
    expect_invariants(g.transposed().csr, make_schedule(g.transposed().csr), name + ", transposed");
    expect_invariants(g.csr(), make_schedule(g.csr(), 16, 8), name + ", small units");
  }
}

TEST(Schedule, RowsLongerThanTwoSegmentsAreCut) {
  const Graph g = test::hub_graph(101, 20'000, 15);
  const Schedule s = make_schedule(g.csr());
  ASSERT_EQ(s.hubs.size(), 1u);
  EXPECT_EQ(s.hubs[0].row, 50);
  EXPECT_GE(s.hubs[0].count, 5);
  EXPECT_EQ(make_schedule(g.csr(), 512, 16'000).hubs.size(), 0u);
}

TEST(Plan, IsMadeOncePerGraphAndSharedByItsCopies) {
  const Graph g = test::random_graph(50, 50, 200, 1);
  const Graph copy = g;
  EXPECT_EQ(&Plan::of(g).schedule(Direction::by_row), &Plan::of(copy).schedule(Direction::by_row));
  EXPECT_EQ(&Plan::of(g).schedule(Direction::by_column), &Plan::of(copy).schedule(Direction::by_column));
}

TEST(Plan, KeepsItsGraphAlive) {
  const Plan plan = [] { return Plan::of(test::random_graph(50, 50, 200, 1)); }();
  EXPECT_EQ(plan.csr(Direction::by_row).edges(), 200);
  EXPECT_EQ(plan.csr(Direction::by_column).edges(), 200);
}

TEST(Plan, ReleasesAGraphThatNobodyHolds) {
  const auto alive = std::make_shared<int>(0);
  const std::vector<int64_t> ptr{0, 1, 2};
  const std::vector<int32_t> col{0, 1};
  {
    const Graph g = Graph::borrow_csr(2, 2, ptr.data(), col.data(), alive).value();
    const Plan plan = Plan::of(g);
    EXPECT_EQ(plan.schedule(Direction::by_column).units.size(), 1u);
    EXPECT_GT(alive.use_count(), 1);
  }
  EXPECT_EQ(alive.use_count(), 1) << "plan and graph keep each other alive";
}

}  // namespace
}  // namespace pantile::sparse
