#include <gtest/gtest.h>
#include <pantile/io/edge_list.h>

#include <chrono>
#include <limits>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::to_vector;
using Ids = std::vector<int64_t>;

Result<EdgeList> read(const std::string& text) { return read_matrix_market(Input::memory(text, "m.mtx")); }
Result<EdgeList> with_banner(const std::string& kind, const std::string& body) {
  return read("%%MatrixMarket matrix coordinate " + kind + "\n" + body);
}

TEST(MatrixMarket, RowIsDestinationAndColumnIsSource) {
  const auto e = with_banner("real general", "% comment\n\n2 3 2\n1 3 0.5\n2 1 -4\n");
  ASSERT_TRUE(e);
  EXPECT_EQ(to_vector(e->dst.data(), 2), (Ids{0, 1}));
  EXPECT_EQ(to_vector(e->src.data(), 2), (Ids{2, 0}));
  EXPECT_EQ(to_vector(e->weights.data(), 2), (std::vector<float>{0.5f, -4.f}));
  EXPECT_EQ(e->num_dst, 2);
  EXPECT_EQ(e->num_src, 3);
}

TEST(MatrixMarket, SymmetricEntriesAreExpandedAndSkewOnesNegated) {
  const auto s = with_banner("integer symmetric", "3 3 2\n2 1 5\n3 3 7\n");
  EXPECT_EQ(to_vector(s->dst.data(), s->edges()), (Ids{1, 0, 2}));
  EXPECT_EQ(to_vector(s->weights.data(), 3), (std::vector<float>{5, 5, 7}));
  const auto k = with_banner("real skew-symmetric", "3 3 1\n2 1 5\n");
  EXPECT_EQ(to_vector(k->weights.data(), k->edges()), (std::vector<float>{5, -5}));
  EXPECT_EQ(with_banner("pattern symmetric", "3 3 1\n1 3\n")->edges(), 2);
}

TEST(MatrixMarket, PatternHasNoWeights) {
  EXPECT_TRUE(with_banner("pattern general", "1 1 1\n1 1\n")->weights.empty());
}

TEST(MatrixMarket, WordsOfTheBannerMayBeInAnyCase) {
  EXPECT_TRUE(read("%%matrixmarket MATRIX Coordinate REAL General\n0 0 0\n"));
}

TEST(MatrixMarket, WhatItDoesNotReadIsSaidClearly) {
  EXPECT_TRUE(fails_with(with_banner("complex general", "1 1 0\n"), ErrorCode::unsupported, {"m.mtx:1:", "complex"}));
  EXPECT_TRUE(fails_with(with_banner("complex hermitian", "1 1 0\n"), ErrorCode::unsupported, {"complex"}));
  EXPECT_TRUE(
      fails_with(read("%%MatrixMarket matrix array real general\n1 1\n0\n"), ErrorCode::unsupported, {"coordinate"}));
  EXPECT_TRUE(fails_with(with_banner("quaternion general", ""), ErrorCode::corrupt, {"'quaternion'"}));
  EXPECT_TRUE(fails_with(with_banner("real circulant", ""), ErrorCode::corrupt, {"'circulant'"}));
  EXPECT_TRUE(fails_with(with_banner("pattern skew-symmetric", ""), ErrorCode::corrupt, {"signs"}));
  EXPECT_TRUE(fails_with(read("1 2 3\n"), ErrorCode::corrupt, {"m.mtx:1:", "%%MatrixMarket"}));
  EXPECT_TRUE(fails_with(read(""), ErrorCode::corrupt, {"%%MatrixMarket"}));
}

TEST(MatrixMarket, BadEntriesAreLocated) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> corrupt = {
      {"2 2 1\n0 1 1\n", {"m.mtx:3:", "column 1", "'0'", "from 1"}},
      {"2 2 1\n1 -1 1\n", {"column 2", "'-1'"}},
      {"2 2 1\n1 1 x\n", {"column 3", "'x'"}},
      {"2 2 1\n1 1\n", {"column 3"}},
      {"2 2 1\n1 1 inf\n", {"'inf'"}},
      {"2 2 1\n1 1 1e300\n", {"'1e300'"}},
      {"2 2 1\n1 1 1 1\n", {"column 4"}},
      {"2 2 2\n1 1 1\n", {"after 1 of 2", "truncated"}},
      {"2 2 1\n1 1 1\n2 2 1\n", {"m.mtx:4:", "more entries"}},
      {"2 2\n", {"m.mtx:2:", "missing"}},
      {"2 2 1 1\n1 1 1\n", {"three numbers"}},
      {"", {"ends before"}},
      {"2 2 -1\n", {"'-1'"}},
      {"2 2 99999999999999999999\n", {"2^62"}}};
  for (const auto& [body, parts] : corrupt)
    EXPECT_TRUE(fails_with(with_banner("real general", body), ErrorCode::corrupt, parts)) << body;
  EXPECT_TRUE(fails_with(with_banner("real general", "2 2 1\n1 3 1\n"), ErrorCode::out_of_range,
                         {"m.mtx:3:", "column 2", "3", "[1, 2]"}));
  EXPECT_TRUE(fails_with(with_banner("real symmetric", "2 3 0\n"), ErrorCode::corrupt, {"square", "2 x 3"}));
  EXPECT_TRUE(
      fails_with(with_banner("real symmetric", "2 2 2\n2 1 1\n1 2 1\n"), ErrorCode::corrupt, {"m.mtx:4:", "triangle"}));
  EXPECT_TRUE(fails_with(with_banner("real skew-symmetric", "2 2 1\n1 1 1\n"), ErrorCode::corrupt, {"diagonal"}));
}

TEST(MatrixMarket, AHeaderLargerThanTheFileIsRefusedAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(fails_with(with_banner("pattern general", "9 9 4000000000000000000\n1 1\n"), ErrorCode::corrupt,
                         {"m.mtx:2:", "file of this size"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(MatrixMarket, ReadsWhatItWritesToTheSameBits) {
  const test::TemporaryFolder folder;
  const std::vector<int64_t> src = {4, 0, 4, 4}, dst = {0, 2, 0, 1};
  const std::vector<float> weights = {0.1f, -std::numeric_limits<float>::denorm_min(),
                                      std::numeric_limits<float>::max(), 1.0f / 3};
  for (const char* const file : {"a.mtx", "a.mtx.gz"}) {
    ASSERT_TRUE(write_matrix_market(folder / file, {src, dst, weights, 5, 3}));
    const auto e = read_matrix_market(folder / file);
    ASSERT_TRUE(e) << e.error().message;
    EXPECT_EQ(to_vector(e->src.data(), 4), src);
    EXPECT_EQ(to_vector(e->dst.data(), 4), dst);
    EXPECT_EQ(to_vector(e->weights.data(), 4), weights);
    EXPECT_EQ(e->num_src, 5);
    EXPECT_EQ(e->num_dst, 3);
  }
  EXPECT_EQ(read_text(folder / "a.mtx.gz")->substr(0, 2), "\x1f\x8b");
}

}  // namespace
}  // namespace pantile
