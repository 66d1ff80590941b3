#include <gtest/gtest.h>
#include <pantile/io/edge_list.h>

#include <chrono>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::to_vector;
using Ids = std::vector<int64_t>;

Result<EdgeList> read(const std::string& text) { return read_metis(Input::memory(text, "g.graph")); }

TEST(Metis, EveryLineListsTheInEdgesOfItsNode) {
  const auto e = read("% path 1-2-3 and an isolated node\n4 2\n2\n1 3\n% comment inside\n 2 \n\n");
  ASSERT_TRUE(e) << e.error().message;
  EXPECT_EQ(to_vector(e->dst.data(), e->edges()), (Ids{0, 1, 1, 2}));
  EXPECT_EQ(to_vector(e->src.data(), e->edges()), (Ids{1, 0, 2, 1}));
  EXPECT_EQ(e->num_src, 4);
  EXPECT_TRUE(e->weights.empty());
}

TEST(Metis, SkipsVertexSizesAndWeightsAndKeepsEdgeWeights) {
  const auto e = read("2 1 111 2\n9 8 7 2 5\n9 8 7 1 5\n");
  ASSERT_TRUE(e) << e.error().message;
  EXPECT_EQ(to_vector(e->weights.data(), 2), (std::vector<float>{5, 5}));
  EXPECT_EQ(read("2 1 10\n7 2\n7 1\n")->edges(), 2);
  EXPECT_EQ(read("2 1 001\n2 3\n1 3\n")->weights[1], 3.f);
}

TEST(Metis, AcceptsASelfLoopThatStandsOnce) { EXPECT_EQ(read("2 2\n1 2\n1\n")->edges(), 3); }

TEST(Metis, EmptyGraphsAndTrailingBlankLinesAreFine) {
  EXPECT_EQ(read("0 0\n")->num_src, 0);
  EXPECT_EQ(read("3 0\n\n\n\n\n\n")->num_dst, 3);
}

TEST(Metis, BadFilesAreLocated) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"", {"empty"}},
      {"x 1\n", {"g.graph:1:", "'x'"}},
      {"2 1\n2\n", {"after 1 of 2", "truncated"}},
      {"2 1\n2\n0\n", {"g.graph:3:", "'0'", "from 1"}},
      {"2 1\n2\nx\n", {"g.graph:3:", "column 1", "'x'"}},
      {"2 1\n2\n1\n1\n", {"g.graph:4:", "after the last"}},
      {"2 2\n2\n1\n", {"g.graph:1:", "2 edges", "4 entries", "are 2"}},
      {"2 1 2\n", {"format"}},
      {"2 1 1111\n", {"format"}},
      {"2 1 1 3\n", {"3 vertex weights"}},
      {"2 1 1\n2\n1 1\n", {"g.graph:2:", "edge weight"}},
      {"2 1 1\n2 3\n1 4\n", {"different weights"}},
      {"3 1\n2\n3\n\n", {"every edge must stand at both ends"}},
      {"3 2\n2 3\n1\n2\n", {"every edge must stand at both ends"}},
      {"4 2\n2\n3\n4\n1\n", {"g.graph:2:", "only one of nodes"}},
      {"99999999999999 1\n", {"file of this size"}},
      {"1 99999999999999\n", {"file of this size"}}};
  for (const auto& [text, parts] : cases) EXPECT_TRUE(fails_with(read(text), ErrorCode::corrupt, parts)) << text;
  EXPECT_TRUE(fails_with(read("2 1\n3\n1\n"), ErrorCode::out_of_range, {"g.graph:2:", "column 1", "3", "[1, 2]"}));
}

TEST(Metis, ReadsWhatItWrites) {
  const test::TemporaryFolder folder;
  const Ids src = {2, 0, 1, 0}, dst = {0, 2, 0, 1};
  const std::vector<float> weights = {7, 7, 2, 2};
  for (const bool weighted : {false, true}) {
    ASSERT_TRUE(write_metis(folder / "g.graph",
                            {src, dst, weighted ? std::span<const float>(weights) : std::span<const float>(), 4, 4}));
    const auto e = read_metis(folder / "g.graph");
    ASSERT_TRUE(e) << e.error().message;
    EXPECT_EQ(to_vector(e->dst.data(), 4), (Ids{0, 0, 1, 2}));
    EXPECT_EQ(to_vector(e->src.data(), 4), (Ids{1, 2, 0, 0}));
    EXPECT_EQ(e->num_src, 4);
    EXPECT_EQ(e->weights.size(), weighted ? 4 : 0);
  }
}

TEST(Metis, WritingRefusesWhatTheFormatCannotHoldAndLeavesNothing) {
  const test::TemporaryFolder folder;
  const auto write = [&](const Ids& src, const Ids& dst, const std::vector<float>& weights = {}, int64_t num_src = 3) {
    return write_metis(folder / "g.graph", {src, dst, weights, num_src, 3});
  };
  EXPECT_TRUE(fails_with(write({0, 1}, {0, 1}), ErrorCode::invalid_argument, {"edge 0", "self-loop"}));
  EXPECT_TRUE(fails_with(write({0, 1, 0}, {1, 0, 1}), ErrorCode::invalid_argument, {"edge 2", "duplicate"}));
  EXPECT_TRUE(fails_with(write({0}, {1}), ErrorCode::invalid_argument, {"edge 0 (0 -> 1)", "no edge back"}));
  EXPECT_TRUE(fails_with(write({0, 1}, {1, 0}, {1, 2}), ErrorCode::invalid_argument, {"another weight"}));
  EXPECT_TRUE(fails_with(write({0, 1}, {1, 0}, {.5f, .5f}), ErrorCode::invalid_argument, {"weight 0.5"}));
  EXPECT_TRUE(fails_with(write({}, {}, {}, 4), ErrorCode::invalid_argument, {"3 x 4"}));
  EXPECT_TRUE(fails_with(write({0, 3}, {1, 0}), ErrorCode::out_of_range, {"edge 1", "source 3", "[0, 3)"}));
  EXPECT_EQ(folder.files(), 0);
}

}  // namespace
}  // namespace pantile
