#include <gtest/gtest.h>
#include <pantile/io/ogb.h>

#include <cmath>
#include <filesystem>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::to_vector;
using Ids = std::vector<int64_t>;

/// A small dataset folder; tests replace single files.
class Ogb : public testing::Test {
 protected:
  Ogb() {
    std::filesystem::create_directories(folder_ / "raw");
    std::filesystem::create_directories(folder_ / "split/time");
    put("raw/edge.csv.gz", "0,1\n1,2\n2,2\n");
    put("raw/num-node-list.csv.gz", "3\n");
    put("raw/num-edge-list.csv.gz", "3\n");
    put("raw/node-feat.csv.gz", "0.5,1\n-2,3e-2\n4,5\n");
    put("raw/node-label.csv.gz", "0\n4\nnan\n");
    put("split/time/train.csv.gz", "0\n");
    put("split/time/valid.csv.gz", "1\n");
    put("split/time/test.csv.gz", "2\n");
  }
  void put(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_text(folder_ / name, name.substr(name.size() - 3) == ".gz" ? test::gzipped(text) : text));
  }
  void remove(const std::string& name) const { std::filesystem::remove(folder_ / name); }

  test::TemporaryFolder folder_;
};

TEST_F(Ogb, ReadsTheWholeFolder) {
  for (const std::string& path : {folder_.path(), folder_ / "raw"}) {
    EXPECT_TRUE(is_ogb_folder(path));
    const auto o = read_ogb(path);
    ASSERT_TRUE(o) << o.error().message;
    EXPECT_EQ(o->num_nodes, 3);
    EXPECT_EQ(to_vector(o->edges.src.data(), o->edges.edges()), (Ids{0, 1, 2}));
    EXPECT_EQ(to_vector(o->edges.dst.data(), o->edges.edges()), (Ids{1, 2, 2}));
    EXPECT_EQ(o->node_feat->shape, (Ids{3, 2}));
    EXPECT_EQ(o->node_feat->as<float>()[3], 3e-2f);
    EXPECT_EQ(o->node_label->as<float>()[1], 4);
    EXPECT_TRUE(std::isnan(o->node_label->as<float>()[2]));
    EXPECT_EQ(o->splits.at("time").valid, Ids{1});
  }
}

TEST_F(Ogb, OptionsMirrorEdgesAndSkipFeatures) {
  const auto o = read_ogb(folder_.path(), {.undirected = true, .features = false});
  EXPECT_EQ(to_vector(o->edges.dst.data(), o->edges.edges()), (Ids{1, 0, 2, 1, 2}));
  EXPECT_FALSE(o->node_feat);
}

TEST_F(Ogb, PlainFilesAndMissingOptionalOnesAreFine) {
  for (const char* const name :
       {"raw/edge.csv.gz", "raw/num-edge-list.csv.gz", "raw/node-feat.csv.gz", "raw/node-label.csv.gz"})
    remove(name);
  std::filesystem::remove_all(folder_ / "split");
  put("raw/edge.csv", "2,0\n");
  const auto o = read_ogb(folder_.path());
  ASSERT_TRUE(o) << o.error().message;
  EXPECT_EQ(o->edges.edges(), 1);
  EXPECT_TRUE(o->splits.empty());
}

TEST_F(Ogb, SeveralGraphsBecomeDisjointParts) {
  put("raw/num-node-list.csv.gz", "2\n0\n1\n");
  put("raw/num-edge-list.csv.gz", "2\n0\n1\n");
  put("raw/edge.csv.gz", "0,1\n1,1\n0,0\n");
  const auto o = read_ogb(folder_.path());
  ASSERT_TRUE(o) << o.error().message;
  EXPECT_EQ(o->node_offsets, (Ids{0, 2, 2, 3}));
  EXPECT_EQ(to_vector(o->edges.src.data(), 3), (Ids{0, 1, 2}));
  put("raw/edge.csv.gz", "0,1\n1,1\n1,0\n");
  EXPECT_TRUE(
      fails_with(read_ogb(folder_.path()), ErrorCode::out_of_range, {"edge.csv.gz:3:", "column 1", "1", "[0, 1)"}));
}

TEST_F(Ogb, WhatIsMissingIsNamed) {
  remove("raw/num-node-list.csv.gz");
  EXPECT_FALSE(is_ogb_folder(folder_.path()));
  EXPECT_TRUE(fails_with(read_ogb(folder_.path()), ErrorCode::io, {"num-node-list.csv.gz", "missing"}));
  EXPECT_TRUE(fails_with(read_ogb(folder_ / "nowhere"), ErrorCode::io, {"nowhere", "not a folder"}));
}

TEST_F(Ogb, BadContentIsLocated) {
  struct Case {
    std::string file, text;
    ErrorCode code;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {"raw/edge.csv.gz", "0,1\n1,3\n2,2\n", ErrorCode::out_of_range, {"edge.csv.gz:2:", "column 2", "3", "[0, 3)"}},
      {"raw/edge.csv.gz", "0,1\n", ErrorCode::corrupt, {"holds 1 edges", "says 3"}},
      {"raw/edge.csv.gz", "0,1,2\n", ErrorCode::corrupt, {"column 3", "source,destination"}},
      {"raw/edge.csv.gz", "0,1\nx,1\n", ErrorCode::corrupt, {"edge.csv.gz:2:", "'x'"}},
      {"raw/num-node-list.csv.gz", "", ErrorCode::corrupt, {"empty"}},
      {"raw/num-node-list.csv.gz", "-3\n", ErrorCode::corrupt, {"num-node-list.csv.gz:1:", "'-3'"}},
      {"raw/num-node-list.csv.gz", "4611686018427387903\n", ErrorCode::corrupt, {"node-feat"}},
      {"raw/num-edge-list.csv.gz", "1\n2\n", ErrorCode::corrupt, {"2 graphs"}},
      {"raw/node-feat.csv.gz",
       "1,2\n3\n4,5\n",
       ErrorCode::corrupt,
       {"node-feat.csv.gz:2:", "1 columns", "2 are expected"}},
      {"raw/node-feat.csv.gz", "1,2\n3,nan\n4,5\n", ErrorCode::corrupt, {"node-feat.csv.gz:2:", "column 2", "'nan'"}},
      {"raw/node-feat.csv.gz", "1,2\n3,4\n", ErrorCode::corrupt, {"after 2 of 3 rows"}},
      {"raw/node-feat.csv.gz", "1\n2\n3\n4\n", ErrorCode::corrupt, {"node-feat.csv.gz:4:", "more than the 3"}},
      {"split/time/test.csv.gz", "0\n3\n", ErrorCode::out_of_range, {"test.csv.gz:2:", "3", "[0, 3)"}}};
  for (const Case& c : cases) {
    const std::string before = *read_text(folder_ / c.file);
    put(c.file, c.text);
    EXPECT_TRUE(fails_with(read_ogb(folder_.path()), c.code, c.parts)) << c.file << ": " << c.text;
    ASSERT_TRUE(write_text(folder_ / c.file, before));
  }
  remove("split/time/valid.csv.gz");
  EXPECT_TRUE(fails_with(read_ogb(folder_.path()), ErrorCode::io, {"valid.csv.gz", "missing"}));
}

TEST(NumberTable, EmptyFieldsAreUnknownValuesWhereAllowed) {
  const auto read = [](const std::string& text, bool allow) {
    return read_number_table(Input::memory(text, "t.csv"), {.allow_nan = allow});
  };
  const auto t = read("1,,3\n,2,\n", true);
  ASSERT_TRUE(t) << t.error().message;
  EXPECT_EQ(t->shape, (Ids{2, 3}));
  EXPECT_TRUE(std::isnan(t->as<float>()[1]) && std::isnan(t->as<float>()[3]) && std::isnan(t->as<float>()[5]));
  EXPECT_EQ(t->as<float>()[4], 2);
  EXPECT_TRUE(fails_with(read("1,,3\n", false), ErrorCode::corrupt, {"t.csv:1:", "column 2"}));
  EXPECT_TRUE(fails_with(read("1,\n", false), ErrorCode::corrupt, {"column 2"}));
  EXPECT_TRUE(fails_with(read("inf\n", true), ErrorCode::corrupt, {"'inf'"}));
  EXPECT_EQ(read("", false)->shape, (Ids{0, 0}));
}

}  // namespace
}  // namespace pantile
