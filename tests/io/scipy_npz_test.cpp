#include <gtest/gtest.h>
#include <pantile/io/edge_list.h>

#include <limits>

#include "io/files.h"
#include "io/npz_archive.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::TemporaryFolder;
using test::to_vector;
using Ids = std::vector<int64_t>;

/// A file as scipy writes it, of arrays that may be wrong.
struct ScipyFile {
  std::string format = "csr";
  Ids shape = {2, 3}, first = {0, 2, 3}, second = {2, 0, 1};
  std::vector<double> data = {1.5, -2, 4};

  Result<EdgeList> read(const TemporaryFolder& folder) const {
    auto writer = io::NpzWriter::create(folder / "m.npz", true);
    const auto add = [&](const char* name, const Ids& v) {
      EXPECT_TRUE(writer->add(name, {v.data(), DType::i64, {static_cast<int64_t>(v.size())}}));
    };
    if (!format.empty()) {
      EXPECT_TRUE(writer->add_text("format", format));
    }
    add("shape", shape);
    add(format == "coo" ? "row" : "indptr", first);
    add(format == "coo" ? "col" : "indices", second);
    EXPECT_TRUE(writer->add("data", {data.data(), DType::f64, {static_cast<int64_t>(data.size())}}));
    EXPECT_TRUE(writer->commit());
    return read_scipy_npz(folder / "m.npz");
  }
};

TEST(ScipyNpz, ReadsTheThreeFormatsInOneConvention) {
  const TemporaryFolder folder;
  for (const ScipyFile& file : {ScipyFile{}, ScipyFile{"", {2, 3}, {0, 2, 3}, {2, 0, 1}, {1.5, -2, 4}},
                                ScipyFile{"coo", {2, 3}, {0, 0, 1}, {2, 0, 1}, {1.5, -2, 4}}}) {
    const auto e = file.read(folder);
    ASSERT_TRUE(e) << e.error().message;
    EXPECT_EQ(to_vector(e->dst.data(), e->edges()), (Ids{0, 0, 1}));
    EXPECT_EQ(to_vector(e->src.data(), e->edges()), (Ids{2, 0, 1}));
    EXPECT_EQ(to_vector(e->weights.data(), 3), (std::vector<float>{1.5f, -2, 4}));
    EXPECT_EQ(e->num_dst, 2);
    EXPECT_EQ(e->num_src, 3);
  }
  const auto csc = ScipyFile{"csc", {2, 3}, {0, 1, 1, 2}, {1, 0}, {5, 6}}.read(folder);
  ASSERT_TRUE(csc) << csc.error().message;
  EXPECT_EQ(to_vector(csc->dst.data(), 2), (Ids{1, 0}));
  EXPECT_EQ(to_vector(csc->src.data(), 2), (Ids{0, 2}));
}

TEST(ScipyNpz, BrokenMatricesAreLocated) {
  const TemporaryFolder folder;
  const std::vector<std::pair<ScipyFile, std::vector<std::string>>> corrupt = {
      {{"csr", {2, 3}, {0, 2}, {2, 0, 1}, {1, 2, 3}}, {"indptr", "2 offsets", "3 are needed"}},
      {{"csr", {2, 3}, {0, 2, 1}, {2, 0, 1}, {1, 2, 3}}, {"indptr'[2] = 1", "[2, 3]"}},
      {{"csr", {2, 3}, {1, 2, 3}, {2, 0, 1}, {1, 2, 3}}, {"indptr'[0] = 1"}},
      {{"csr", {2, 3}, {0, 2, 9}, {2, 0, 1}, {1, 2, 3}}, {"indptr'[2] = 9"}},
      {{"csr", {2, 3}, {0, 1, 2}, {2, 0, 1}, {1, 2, 3}}, {"ends at 2"}},
      {{"csr", {2, 3}, {0, 2, 3}, {2, 0, 1}, {1, 2}}, {"2 values for 3"}},
      {{"csr", {2, 3}, {0, 2, 3}, {2, 0, 1}, {1, 2, std::numeric_limits<double>::quiet_NaN()}}, {"data'[2] is nan"}},
      {{"csr", {2, 3, 1}, {0, 2, 3}, {2, 0, 1}, {1, 2, 3}}, {"two extents"}},
      {{"csr", {-2, 3}, {0, 2, 3}, {2, 0, 1}, {1, 2, 3}}, {"two extents"}},
      {{"coo", {2, 3}, {0, 0}, {2, 0, 1}, {1, 2, 3}}, {"row", "2 entries"}}};
  for (const auto& [file, parts] : corrupt)
    EXPECT_TRUE(fails_with(file.read(folder), ErrorCode::corrupt, parts)) << parts[0];
  EXPECT_TRUE(fails_with(ScipyFile{"csr", {2, 3}, {0, 2, 3}, {2, 0, 3}, {1, 2, 3}}.read(folder),
                         ErrorCode::out_of_range, {"indices'[2] = 3", "[0, 3)"}));
  EXPECT_TRUE(fails_with(ScipyFile{"coo", {2, 3}, {0, -1, 1}, {2, 0, 1}, {1, 2, 3}}.read(folder),
                         ErrorCode::out_of_range, {"row'[1] = -1"}));
  EXPECT_TRUE(fails_with(ScipyFile{"bsr", {2, 3}, {0, 2, 3}, {2, 0, 1}, {1, 2, 3}}.read(folder), ErrorCode::unsupported,
                         {"'bsr'", "tocsr"}));
}

TEST(ScipyNpz, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const Ids src = {2, 0, 2, 2}, dst = {1, 1, 0, 1};
  const std::vector<float> weights = {1, 2, 3, 4};
  for (const bool compress : {false, true}) {
    ASSERT_TRUE(write_scipy_npz(folder / "w.npz", {src, dst, weights, 3, 4}, compress));
    const auto e = read_scipy_npz(folder / "w.npz");
    ASSERT_TRUE(e) << e.error().message;
    EXPECT_EQ(to_vector(e->dst.data(), 4), (Ids{0, 1, 1, 1}));
    EXPECT_EQ(to_vector(e->src.data(), 4), (Ids{2, 2, 0, 2}));  // the order within a row is kept, duplicates too
    EXPECT_EQ(to_vector(e->weights.data(), 4), (std::vector<float>{3, 1, 2, 4}));
    EXPECT_EQ(e->num_dst, 4);
  }
  ASSERT_TRUE(write_scipy_npz(folder / "empty.npz", {{}, {}, {}, 0, 0}));
  EXPECT_EQ(read_scipy_npz(folder / "empty.npz")->edges(), 0);
}

}  // namespace
}  // namespace pantile
