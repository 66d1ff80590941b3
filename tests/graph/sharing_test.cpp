#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "graph/graph_cases.h"
#include "pantile/graph/coalesce.h"

namespace pantile {
namespace {

TEST(GraphSharing, LazyViewsAreMadeOnceHoweverManyThreadsAsk) {
  const Graph g = graph_of(random_edges(3000, 4000, 200000, 1));
  const Graph copy_of_g = g;
  std::atomic<int> made{0};
  std::vector<const void*> transposed(8), profiles(8), slots(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const Graph& mine = t % 2 == 0 ? g : copy_of_g;
      transposed[t] = &mine.transposed();
      profiles[t] = &mine.profile();
      mine.fingerprint();
      slots[t] = mine.attached<int>([&] {
                       ++made;
                       return std::make_shared<int>(5);
                     })
                     .get();
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
  for (size_t t = 1; t < 8; ++t) {
    EXPECT_EQ(transposed[t], transposed[0]);
    EXPECT_EQ(profiles[t], profiles[0]);
    EXPECT_EQ(slots[t], slots[0]);
  }
}

TEST(GraphSharing, SlotsOfDifferentTypesAreApartAndMayUseEachOther) {
  const Graph g = graph_of(random_edges(3, 3, 9, 1));
  const auto text = g.attached<std::string>([&] {
    return std::make_shared<std::string>("degree " + std::to_string(*g.attached<int64_t>([&] {
                                           return std::make_shared<int64_t>(g.profile().max_degree);
                                         })));
  });
  EXPECT_EQ(*text, "degree " + std::to_string(g.profile().max_degree));
  EXPECT_EQ(g.attached<std::string>([] { return std::make_shared<std::string>("again"); }), text);
}

TEST(GraphSharing, ReversedGraphOutlivesItsOrigin) {
  const Edges e = random_edges(50, 60, 300, 2);
  Graph r;
  {
    const Graph g = graph_of(e);
    r = *g.reversed();
  }
  EXPECT_EQ(r.fingerprint(), graph_of(Edges{60, 50, e.dst, e.src}).fingerprint());
}

TEST(GraphSharing, SelfLoopsAndSymmetryNeedASquareGraph) {
  const Graph g = graph_of(random_edges(3, 4, 5, 1));
  for (const auto& changed :
       {g.with_self_loops(), g.with_remaining_self_loops(), g.without_self_loops(), g.symmetrised()}) {
    ASSERT_FALSE(changed.has_value());
    EXPECT_EQ(changed.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(changed.error().message.find("3 destinations and 4 sources"), std::string::npos);
  }
}

TEST(GraphSharing, ExistingLoopsKeepTheirPlaceBeforeAddedOnes) {
  const Edges e{3, 3, {1, 1, 0, 2}, {1, 1, 1, 0}};
  const Graph with = *graph_of(e).with_self_loops();
  EXPECT_EQ(copy(with.ptr()), (std::vector<int64_t>{0, 2, 6, 7}));
  EXPECT_EQ(copy(with.col()), (std::vector<int32_t>{0, 2, 0, 1, 1, 1, 2}));
  EXPECT_EQ(copy(with.edge_id()), (std::vector<int64_t>{4, 0, 1, 2, 3, 5, 6}));
  const Graph rest = *graph_of(e).with_remaining_self_loops();
  EXPECT_EQ(copy(rest.col()), (std::vector<int32_t>{0, 2, 0, 1, 1, 2}));
}

TEST(Coalesce, WithoutWeightsSumCountsTheEdges) {
  const Graph g = graph_of(Edges{2, 2, {1, 1, 0, 1}, {0, 0, 1, 0}});
  const Coalesced c = *coalesce(g, {}, Coalesce::sum);
  EXPECT_EQ(c.graph.edges(), 2);
  EXPECT_EQ(c.weights[0], 3.0f);
  EXPECT_EQ(c.weights[1], 1.0f);
  EXPECT_EQ(coalesce(g, {}, Coalesce::mean)->weights[0], 1.0f);
}

TEST(Coalesce, WeightsOfTheWrongLengthAreRefused) {
  const Graph g = graph_of(Edges{2, 2, {1, 1, 0}, {0, 0, 1}});
  const std::vector<float> w = {1, 2};
  EXPECT_EQ(coalesce(g, w, Coalesce::sum).error().message,
            "there are 2 weights for 3 edges; give one per edge in CSR order, or none");
}

TEST(Coalesce, NanWinsInMinAndMax) {
  const Graph g = graph_of(Edges{1, 1, {0, 0, 0}, {0, 0, 0}});
  const std::vector<float> w = {1, std::numeric_limits<float>::quiet_NaN(), 2};
  EXPECT_TRUE(std::isnan(coalesce(g, w, Coalesce::min)->weights[0]));
  EXPECT_TRUE(std::isnan(coalesce(g, w, Coalesce::max)->weights[0]));
}

}  // namespace
}  // namespace pantile
