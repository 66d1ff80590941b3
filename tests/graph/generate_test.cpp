#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "graph/graph_cases.h"
#include "pantile/graph/generate.h"

namespace pantile {
namespace {

TEST(Generate, RmatIsTheSameForAnyThreadCountAndDiffersBySeed) {
  const RmatOptions options{.scale = 12, .edge_factor = 16, .seed = 7};
  const Graph expected = *generate_rmat(options);
  EXPECT_EQ(expected.rows(), 4096);
  for (const int threads : {1, 2, 3, 8}) {
    const Threads scope(threads);
    EXPECT_TRUE(same_graph(*generate_rmat(options), expected)) << threads;
  }
  EXPECT_NE(generate_rmat({.scale = 12, .edge_factor = 16, .seed = 8})->fingerprint(), expected.fingerprint());
}

TEST(Generate, SimpleRmatHasNoDuplicatesAndIsSkewed) {
  const Graph simple = *generate_rmat({.scale = 12, .edge_factor = 16});
  EXPECT_EQ(simple.profile().duplicates, 0);
  EXPECT_GT(simple.profile().degree_cv, 1.0);
  const Graph multi = *generate_rmat({.scale = 12, .edge_factor = 16, .simple = false});
  EXPECT_EQ(multi.edges(), 4096 * 16);
  EXPECT_EQ(multi.edges() - multi.profile().duplicates, simple.edges());
  EXPECT_TRUE(multi.edge_id().empty());
}

TEST(Generate, CommunitySharesFollowTheOptions) {
  const CommunityOptions options{
      .nodes = 10000, .degree = 16, .community = 64, .inside = 0.9, .scramble = false, .simple = false};
  const Graph g = *generate_community(options);
  EXPECT_EQ(g.edges(), 160000);
  int64_t inside = 0;
  for (int64_t r = 0; r < g.rows(); ++r) {
    for (int64_t k = g.csr().ptr[r]; k < g.csr().ptr[r + 1]; ++k) inside += g.csr().col[k] / 64 == r / 64;
  }
  EXPECT_NEAR(static_cast<double>(inside) / 160000, 0.9 + 0.1 * 64 / 10000, 0.01);
  for (const int threads : {1, 4}) {
    const Threads scope(threads);
    EXPECT_TRUE(same_graph(*generate_community(options), g));
  }
}

TEST(Generate, ScrambledCommunitiesAreLessLocal) {
  const Graph plain = *generate_community({.nodes = 20000, .scramble = false});
  const Graph scrambled = *generate_community({.nodes = 20000, .scramble = true});
  EXPECT_LT(plain.profile().distinct_per_8_rows + 0.2, scrambled.profile().distinct_per_8_rows);
}

TEST(Generate, SbmIsSymmetricSimpleAndHasTheExpectedDegrees) {
  const SbmOptions options{.nodes = 20000, .blocks = 7, .degree_in = 8, .degree_out = 2, .seed = 5};
  const Sbm sbm = *generate_sbm(options);
  const GraphProfile& p = sbm.graph.profile();
  EXPECT_TRUE(p.symmetric);
  EXPECT_EQ(p.duplicates, 0);
  EXPECT_EQ(p.self_loops, 0);
  ASSERT_EQ(sbm.labels.size(), 20000u);
  int64_t inside = 0;
  for (int64_t r = 0; r < 20000; ++r) {
    EXPECT_EQ(sbm.labels[static_cast<size_t>(r)], r * 7 / 20000);
    for (int64_t k = sbm.graph.csr().ptr[r]; k < sbm.graph.csr().ptr[r + 1]; ++k) {
      inside += sbm.labels[static_cast<size_t>(sbm.graph.csr().col[k])] == sbm.labels[static_cast<size_t>(r)];
    }
  }
  EXPECT_NEAR(static_cast<double>(inside) / 20000, 8, 0.2);
  EXPECT_NEAR(static_cast<double>(sbm.graph.edges() - inside) / 20000, 2, 0.1);
  for (const int threads : {1, 4}) {
    const Threads scope(threads);
    EXPECT_TRUE(same_graph(generate_sbm(options)->graph, sbm.graph));
  }
}

TEST(Generate, SbmOfOneFullBlockIsComplete) {
  const Sbm sbm = *generate_sbm({.nodes = 9, .blocks = 1, .degree_in = 100, .degree_out = 0});
  EXPECT_EQ(sbm.graph.edges(), 72);
  EXPECT_EQ(generate_sbm({.nodes = 0, .blocks = 3})->graph.rows(), 0);
  EXPECT_EQ(generate_sbm({.nodes = 2, .blocks = 5})->labels, (std::vector<int64_t>{0, 2}));
}

TEST(Generate, GridHasFourOrEightNeighbours) {
  const Graph four = *generate_grid(5, 3), eight = *generate_grid(5, 3, 8);
  EXPECT_EQ(four.edges(), 2 * (4 * 3 + 5 * 2));
  EXPECT_EQ(eight.edges(), four.edges() + 2 * 2 * 4 * 2);
  EXPECT_TRUE(four.profile().symmetric && eight.profile().symmetric);
  EXPECT_EQ(std::vector<int32_t>(four.csr().col + four.csr().ptr[7], four.csr().col + four.csr().ptr[8]),
            (std::vector<int32_t>{2, 6, 8, 12}));
  EXPECT_EQ(generate_grid(0, 7)->rows(), 0);
  EXPECT_EQ(generate_grid(1, 1)->edges(), 0);
}

TEST(Generate, OptionsOutsideTheirRangeAreNamed) {
  EXPECT_EQ(generate_rmat({.scale = 31}).error().message, "scale is 31; it must be in [0, 30]");
  EXPECT_EQ(generate_rmat({.scale = 3, .a = 0.9, .b = 0.3}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(generate_rmat({.scale = 3, .a = std::nan("")}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(generate_rmat({.scale = 30, .edge_factor = 1 << 20}).error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(generate_community({.community = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(generate_community({.inside = 1.5}).error().message, "inside is 1.5; it must be in [0, 1]");
  EXPECT_EQ(generate_sbm({.blocks = 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(generate_sbm({.degree_in = -1}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(generate_grid(-1, 2).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(generate_grid(1 << 20, 1 << 20).error().code, ErrorCode::unsupported);
  EXPECT_EQ(generate_grid(3, 3, 6).error().message, "a grid of 6 neighbours is not known; choose 4 or 8");
}

}  // namespace
}  // namespace pantile
