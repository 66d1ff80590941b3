#include <gtest/gtest.h>
#include <pantile/io/edge_list.h>

#include "io/files.h"

namespace pantile {
namespace {

using test::fails_with;
using test::to_vector;
using Ids = std::vector<int64_t>;

Result<EdgeList> read(const std::string& text, const EdgeListOptions& options = {}) {
  return read_csv_edges(Input::memory(text, "e.csv"), options);
}
Ids src(const Result<EdgeList>& e) { return e ? to_vector(e->src.data(), e->edges()) : Ids{-1}; }
Ids dst(const Result<EdgeList>& e) { return e ? to_vector(e->dst.data(), e->edges()) : Ids{-1}; }

TEST(CsvEdges, TakesTabsSpacesCommasSemicolonsAndComments) {
  const auto e = read("# SNAP\n% and Matlab\n0\t1\n2 , 3\n\n  4;5  \n6   7\r\n");
  EXPECT_EQ(src(e), (Ids{0, 2, 4, 6}));
  EXPECT_EQ(dst(e), (Ids{1, 3, 5, 7}));
  EXPECT_EQ(e->num_src, -1);
  EXPECT_TRUE(e->weights.empty());
}

TEST(CsvEdges, SkipsAHeaderOfNamesButNotOfGarbage) {
  EXPECT_EQ(src(read("from,to\n1,2\n")), Ids{1});
  EXPECT_EQ(src(read("\"id 1\",\"id 2\"\n1,2\n")), Ids{1});
  EXPECT_EQ(src(read("src,dst\n")), Ids{});
  EXPECT_TRUE(fails_with(read("hello\n1 2\n"), ErrorCode::corrupt, {"e.csv:1:", "column 1", "'hello'"}));
  EXPECT_TRUE(fails_with(read(std::string("\x7f\x01 garbage\n", 11)), ErrorCode::corrupt, {"e.csv:1:", "\\x7f\\x01"}));
  EXPECT_TRUE(fails_with(read("from,to\nagain,to\n"), ErrorCode::corrupt, {"e.csv:2:"}));
}

TEST(CsvEdges, KeepsDuplicatesAndLoopsInOrder) {
  const auto e = read("3 3\n1 2\n1 2\n");
  EXPECT_EQ(src(e), (Ids{3, 1, 1}));
  EXPECT_EQ(dst(e), (Ids{3, 2, 2}));
}

TEST(CsvEdges, AThirdColumnHoldsWeightsUnlessToldOtherwise) {
  const auto e = read("0 1 0.5\n1 2 -3e2\n");
  EXPECT_EQ(to_vector(e->weights.data(), 2), (std::vector<float>{0.5f, -300.f}));
  EXPECT_TRUE(read("0 1 0.5\n", {.weight_column = EdgeListOptions::kNoWeights})->weights.empty());
  EXPECT_TRUE(read("0 1 5 7\n")->weights.empty());
  EXPECT_EQ(read("0 1 5 7\n", {.weight_column = 3})->weights[0], 7.f);
}

TEST(CsvEdges, OptionsSetBaseDirectionAndBound) {
  EXPECT_EQ(src(read("1 2\n", {.base = 1})), Ids{0});
  EXPECT_TRUE(fails_with(read("0 2\n", {.base = 1}), ErrorCode::corrupt, {"e.csv:1:", "'0'", "from 1"}));
  const auto both = read("1 2 9\n3 3 8\n", {.undirected = true});
  EXPECT_EQ(src(both), (Ids{1, 2, 3}));
  EXPECT_EQ(dst(both), (Ids{2, 1, 3}));
  EXPECT_EQ(to_vector(both->weights.data(), 3), (std::vector<float>{9, 9, 8}));
  EXPECT_TRUE(fails_with(read("0 1\n4 5\n", {.num_nodes = 5}), ErrorCode::out_of_range,
                         {"e.csv:2:", "column 2", "5", "[0, 5)"}));
  EXPECT_TRUE(fails_with(read("", {.base = 2}), ErrorCode::invalid_argument, {"base"}));
  EXPECT_TRUE(fails_with(read("", {.weight_column = 1}), ErrorCode::invalid_argument, {"weight_column"}));
}

TEST(CsvEdges, HonoursTheDeclarationComment) {
  const auto e = read("# undirected, each pair once, 0-based; n=9 m=2\n0,1\n2,2\n");
  EXPECT_EQ(src(e), (Ids{0, 1, 2}));
  EXPECT_EQ(e->num_src, 9);
  EXPECT_EQ(e->num_dst, 9);
  EXPECT_EQ(e->edges(), 3);
  EXPECT_EQ(read("# undirected, 0-based; n=9 m=1\n0,1\n", {.undirected = false})->edges(), 1);
  EXPECT_TRUE(fails_with(read("# directed, 0-based; n=9 m=3\n0,1\n"), ErrorCode::corrupt, {"declares 3", "holds 1"}));
  EXPECT_TRUE(fails_with(read("# directed, 1-based; n=9 m=1\n1,10\n"), ErrorCode::out_of_range, {"[1, 10)"}));
  EXPECT_EQ(read("# Directed graph: n=1 m=1\n5 6\n7 8\n")->num_src, -1);
}

TEST(CsvEdges, HonoursTheHeaderOfTheJuliaCollection) {
  const auto e = read("4,2,u,graph\n1,2\n3,3\n");
  EXPECT_EQ(src(e), (Ids{0, 1, 2}));
  EXPECT_EQ(e->num_dst, 4);
  EXPECT_EQ(read("4,1,d,graph,2,Int64,simplegraph\n1,4\n")->edges(), 1);
  EXPECT_TRUE(fails_with(read("4,2,u,graph\n1,2\n"), ErrorCode::corrupt, {"declares 2"}));
  EXPECT_TRUE(fails_with(read("4,1,u,graph\n1,5\n"), ErrorCode::out_of_range, {"5", "[1, 5)"}));
}

TEST(CsvEdges, BadFieldsAreNamedWithLineColumnAndValue) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"0 1\n-2 3\n", {"e.csv:2:", "column 1", "'-2'", "from 0"}},
      {"0 1\n2\n", {"e.csv:2:", "column 2", "missing"}},
      {"0 1\n2 x\n", {"column 2", "'x'"}},
      {"0 1\n2 3 4\n", {"column 3", "'4'", "2 columns"}},
      {"0,1,\n", {"column 3"}},
      {"0,,1\n", {"column 2", "''"}},
      {"1.0 2\n", {"'1.0'"}},
      {"1e3 2\n", {"'1e3'"}},
      {"99999999999999999999 1\n", {"2^62 - 1"}},
      {"4611686018427387904 1\n", {"2^62 - 1"}},
      {"0 1 nan\n", {"column 3", "'nan'"}},
      {"0 1 1e40\n", {"'1e40'"}},
      {"0 1 2\n0 1\n", {"e.csv:2:", "weight is missing"}},
      {"0 1 2\n0 1 2 3\n", {"e.csv:2:", "column 4"}},
      {"0 1 0x10\n", {"'0x10'"}},
      {"0 1 \n0 1 1\n", {"e.csv:2:", "column 3"}}};
  for (const auto& [text, parts] : cases) EXPECT_TRUE(fails_with(read(text), ErrorCode::corrupt, parts)) << text;
  EXPECT_EQ(src(read("4611686018427387903 1\n")), Ids{(int64_t{1} << 62) - 1});
}

TEST(CsvEdges, WeightsTooSmallForFloat32RoundAndSignsStandAlone) {
  EXPECT_EQ(read("0 1 +1e-60\n")->weights[0], 0.0f);
  EXPECT_EQ(read("0 1 +.5\n")->weights[0], 0.5f);
  EXPECT_TRUE(fails_with(read("0 1 +-1\n"), ErrorCode::corrupt, {"'+-1'"}));
  EXPECT_TRUE(fails_with(read("0 1 ++1\n"), ErrorCode::corrupt, {"'++1'"}));
}

TEST(CsvEdges, LongValuesAreCutInMessages) {
  const auto e = read("0 " + std::string(5000, 'a') + "\n");
  ASSERT_FALSE(e);
  EXPECT_LT(e.error().message.size(), 200u);
}

TEST(CsvEdges, PackedFilesReadLikePlainOnes) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "," + std::to_string(i * 7 % 100'000) + "\n";
  const std::string packed = test::gzipped(text);
  const auto a = read(text), b = read_csv_edges(Input::memory(packed));
  EXPECT_EQ(src(a), src(b));
  EXPECT_EQ(dst(a), dst(b));
  EXPECT_EQ(dst(a)[99'999], int64_t{99'999} * 7 % 100'000);
}

}  // namespace
}  // namespace pantile
