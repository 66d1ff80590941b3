#include <pantile/io/npy.h>
#include <pantile/nn/dataset.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>

#include "nn/small_data.h"
#include "support/temporary_folder.h"

namespace pantile::nn::test {
namespace {

/// The arrays of an npz, changed one at a time by each test.
struct Arrays {
  std::vector<int64_t> src{0, 1, 2, 3, 1}, dst{1, 0, 3, 2, 1};
  std::vector<int64_t> edge_shape{2, 5};
  std::vector<float> x = std::vector<float>(5 * 3, 0.5f);
  std::vector<int64_t> x_shape{5, 3};
  std::vector<int64_t> y{0, 1, 0, 1, -1};
  std::vector<uint8_t> train{1, 1, 0, 0, 0}, val{0, 0, 1, 0, 0}, test{0, 0, 0, 1, 0};
  std::vector<float> edge_weight;
  std::vector<std::string> without;

  Result<Dataset> load(const pantile::test::TemporaryFolder& folder, const DatasetOptions& options = {}) const {
    std::vector<int64_t> edge_index(src);
    edge_index.insert(edge_index.end(), dst.begin(), dst.end());
    const auto mask = [](const std::vector<uint8_t>& m) {
      return TensorView{m.data(), DType::boolean, {static_cast<int64_t>(m.size())}};
    };
    std::map<std::string, TensorView> arrays{{"edge_index", {edge_index.data(), DType::i64, edge_shape}},
                                             {"x", {x.data(), DType::f32, x_shape}},
                                             {"y", {y.data(), DType::i64, {static_cast<int64_t>(y.size())}}},
                                             {"train_mask", mask(train)},
                                             {"val_mask", mask(val)},
                                             {"test_mask", mask(test)}};
    if (!edge_weight.empty()) {
      arrays["edge_weight"] = {edge_weight.data(), DType::f32, {static_cast<int64_t>(edge_weight.size())}};
    }
    for (const std::string& name : without) arrays.erase(name);
    const std::string path = folder / "tiny.npz";
    EXPECT_TRUE(write_npz(path, arrays));
    return load_dataset(path, options);
  }
};

/// The load fails and its message holds every one of `parts`.
void expect_refused(const Arrays& arrays, std::vector<std::string> parts, const DatasetOptions& options = {}) {
  const pantile::test::TemporaryFolder folder;
  const auto got = arrays.load(folder, options);
  ASSERT_FALSE(got) << parts[0];
  parts.push_back("tiny.npz");
  for (const std::string& part : parts) {
    EXPECT_NE(got.error().message.find(part), std::string::npos) << part << " is not in: " << got.error().message;
  }
}

TEST(Dataset, AnNpzIsReadAsItStands) {
  const pantile::test::TemporaryFolder folder;
  const Dataset d = must(Arrays{}.load(folder));
  EXPECT_EQ(d.name, "tiny");
  EXPECT_EQ(d.graph.rows(), 5);
  EXPECT_EQ(d.graph.edges(), 5);
  EXPECT_EQ(d.classes, 2);
  EXPECT_EQ(d.labels, (std::vector<int64_t>{0, 1, 0, 1, -1}));
  EXPECT_EQ(d.split.train, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(d.split.validation, (std::vector<int64_t>{2}));
  EXPECT_EQ(d.split.test, (std::vector<int64_t>{3}));
  EXPECT_EQ(d.split.origin, "masks of the file");
  EXPECT_FALSE(d.features.pattern);
  EXPECT_EQ(d.normalisation, Normalisation::none);
  EXPECT_EQ(d.features.dense(4, 2), 0.5f);
}

TEST(Dataset, MissingArraysAreNamedWithWhatAGoodFileHolds) {
  for (const char* name : {"edge_index", "x", "y"}) {
    Arrays a;
    a.without = {name};
    expect_refused(a, {std::string("no array '") + name + "'", "x [N, F] numbers"});
  }
}

TEST(Dataset, MasksComeAllThreeOrNotAtAll) {
  Arrays a;
  a.without = {"val_mask"};
  expect_refused(a, {"val_mask is missing"});
}

TEST(Dataset, ATransposedEdgeIndexIsRecognised) {
  Arrays a;
  a.edge_shape = {5, 2};
  expect_refused(a, {"edge_index is [5, 2]", "store its transpose"});
}

TEST(Dataset, AnEdgeOutsideTheNodesIsNamed) {
  Arrays a;
  a.src[3] = 5;
  expect_refused(a, {"edge_index", "edge 3", "5", "[0, 5)"});
  a.src[3] = -2;
  expect_refused(a, {"edge 3", "-2"});
}

TEST(Dataset, FeaturesThatAreNotFiniteAreNamed) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Arrays a;
    a.x[7] = bad;
    expect_refused(a, {"feature 1 of node 2"});
  }
}

TEST(Dataset, LabelsMustBeClassesOfTheNodes) {
  Arrays a;
  a.y[2] = -3;
  expect_refused(a, {"label -3 of node 2"});
  a.y[2] = int64_t{1} << 40;
  expect_refused(a, {"node 2"});
  a = {};
  a.y.pop_back();
  expect_refused(a, {"y is [4]", "5 rows of x"});
  a = {};
  a.y.assign(5, -1);
  expect_refused(a, {"no node has a label"});
}

TEST(Dataset, MasksMustBeDisjointLabelledAndTrainSomething) {
  Arrays a;
  a.test[0] = 1;
  expect_refused(a, {"node 0 is in the train split and in the test split"});
  a = {};
  a.val[4] = 1;
  expect_refused(a, {"node 4 of the validation split has no label"});
  a = {};
  a.train.assign(5, 0);
  expect_refused(a, {"train_mask is all false"});
  a = {};
  a.train.pop_back();
  expect_refused(a, {"train_mask is [4]"});
}

TEST(Dataset, EdgeWeightsFollowTheirEdges) {
  const pantile::test::TemporaryFolder folder;
  Arrays a;
  a.edge_weight = {10, 20, 30, 40, 50};
  const Dataset d = must(a.load(folder));
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t k = d.graph.ptr()[static_cast<size_t>(i)]; k < d.graph.ptr()[static_cast<size_t>(i) + 1]; ++k) {
      for (size_t e = 0; e < 5; ++e) {
        if (a.dst[e] == i && a.src[e] == d.graph.col()[static_cast<size_t>(k)]) {
          EXPECT_EQ(d.edge_weights[static_cast<size_t>(k)], a.edge_weight[e]);
        }
      }
    }
  }
  a.edge_weight[2] = std::nanf("");
  expect_refused(a, {"edge_weight 2"});
  a.edge_weight.pop_back();
  expect_refused(a, {"edge_weight is [4] for 5 edges"});
}

TEST(Dataset, FewNonzeroFeaturesAreCompressedAndNormalised) {
  const pantile::test::TemporaryFolder folder;
  Arrays a;
  a.x_shape = {5, 40};
  a.x.assign(200, 0.0f);
  a.x[3] = 1;
  a.x[17] = 3;
  a.x[45] = 2;
  const Dataset d = must(a.load(folder));
  ASSERT_TRUE(d.features.pattern);
  EXPECT_EQ(d.normalisation, Normalisation::rows);
  EXPECT_EQ(d.features.stored(), 3);
  EXPECT_EQ(d.features.values[0], 0.25f);
  EXPECT_EQ(d.features.values[1], 0.75f);
  EXPECT_EQ(d.features.values[2], 1.0f);
  DatasetOptions dense;
  dense.sparse_share = -1;
  dense.normalisation = Normalisation::rows;
  const Dataset same = must(a.load(folder, dense));
  ASSERT_FALSE(same.features.pattern);
  EXPECT_EQ(same.features.dense(0, 17), 0.75f);
  EXPECT_EQ(same.features.dense(3, 0), 0.0f);
  EXPECT_EQ(same.fingerprint, d.fingerprint) << "storage and normalisation do not change what the data is";
}

TEST(Dataset, AnyChangeOfTheContentsChangesTheFingerprint) {
  const pantile::test::TemporaryFolder folder;
  const auto fingerprint = [&](auto change) {
    Arrays a;
    change(a);
    return must(a.load(folder)).fingerprint.hex();
  };
  const std::string base = fingerprint([](Arrays&) {});
  EXPECT_EQ(base, fingerprint([](Arrays&) {}));
  EXPECT_NE(base, fingerprint([](Arrays& a) { a.src[0] = 2; }));
  EXPECT_NE(base, fingerprint([](Arrays& a) { a.x[0] = 1; }));
  EXPECT_NE(base, fingerprint([](Arrays& a) { a.y[4] = 1; }));
  EXPECT_NE(base, fingerprint([](Arrays& a) { a.edge_weight = {1, 1, 1, 1, 2}; }));
}

TEST(Dataset, NoMasksMeanARandomSplitThatSaysSo) {
  const pantile::test::TemporaryFolder folder;
  Arrays a;
  a.without = {"train_mask", "val_mask", "test_mask"};
  DatasetOptions options;
  options.split.seed = 7;
  const Dataset d = must(a.load(folder, options));
  EXPECT_NE(d.split.origin.find("random by seed 7"), std::string::npos);
  EXPECT_EQ(d.split.train.size(), 2u);
  EXPECT_EQ(must(a.load(folder, options)).split.train, d.split.train);
}

TEST(Dataset, UndirectedAddsWhatIsMissing) {
  const pantile::test::TemporaryFolder folder;
  Arrays a;
  a.src = {0, 1, 2, 2, 4};
  a.dst = {1, 0, 3, 2, 0};
  DatasetOptions options;
  options.undirected = true;
  EXPECT_EQ(must(a.load(folder, options)).graph.edges(), 7);
}

TEST(Dataset, NoEdgesAndNoNodesAreLegal) {
  const pantile::test::TemporaryFolder folder;
  Arrays a;
  a.src.clear();
  a.dst.clear();
  a.edge_shape = {2, 0};
  EXPECT_EQ(must(a.load(folder)).graph.edges(), 0);
  a.x.clear();
  a.x_shape = {0, 3};
  a.y.clear();
  for (auto* m : {&a.train, &a.val, &a.test}) m->clear();
  const Dataset d = must(a.load(folder));
  EXPECT_EQ(d.graph.rows(), 0);
  EXPECT_EQ(d.classes, 1);
}

TEST(Dataset, FilesThatAreNoneAreRefused) {
  const pantile::test::TemporaryFolder folder;
  EXPECT_EQ(load_dataset(folder / "nothing.npz").error().code, ErrorCode::io);
  std::ofstream(folder / "garbage.npz") << "not a zip file";
  EXPECT_FALSE(load_dataset(folder / "garbage.npz"));
  EXPECT_FALSE(load_dataset(folder.path())) << "a folder without OGB files";
}

class OgbFolderTest : public testing::Test {
 protected:
  OgbFolderTest() {
    std::filesystem::create_directories(folder_ / "raw");
    std::filesystem::create_directories(folder_ / "split/time");
    put("raw/num-node-list.csv", "4\n");
    put("raw/num-edge-list.csv", "3\n");
    put("raw/edge.csv", "0,1\n1,2\n3,0\n");
    put("raw/node-feat.csv", "1,2\n3,4\n5,6\n7,8\n");
    put("raw/node-label.csv", "0\n1\n2\n1\n");
    put("split/time/train.csv", "0\n1\n");
    put("split/time/valid.csv", "2\n");
    put("split/time/test.csv", "3\n");
  }
  void put(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  pantile::test::TemporaryFolder folder_;
};

TEST_F(OgbFolderTest, IsReadWithItsSplit) {
  const Dataset d = must(load_dataset(folder_.path()));
  EXPECT_EQ(d.graph.edges(), 3);
  EXPECT_EQ(d.classes, 3);
  EXPECT_EQ(d.split.origin, "split/time of the folder");
  EXPECT_EQ(d.split.test, (std::vector<int64_t>{3}));
  EXPECT_EQ(d.features.dense(2, 1), 6.0f);
}

TEST_F(OgbFolderTest, MissingLabelsAndFeaturesAreNamed) {
  std::filesystem::remove(folder_ / "raw/node-label.csv");
  const auto labels = load_dataset(folder_.path());
  ASSERT_FALSE(labels);
  EXPECT_NE(labels.error().message.find("node-label.csv.gz"), std::string::npos) << labels.error().message;
  std::filesystem::remove(folder_ / "raw/node-feat.csv");
  const auto features = load_dataset(folder_.path());
  ASSERT_FALSE(features);
  EXPECT_NE(features.error().message.find("node-feat.csv.gz"), std::string::npos) << features.error().message;
}

TEST_F(OgbFolderTest, AFractionIsNoClass) {
  put("raw/node-label.csv", "0\n1\n1.5\n1\n");
  const auto got = load_dataset(folder_.path());
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("label 1.5 of node 2"), std::string::npos) << got.error().message;
}

TEST(RandomSplit, GivesDisjointLabelledParts) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 1000; ++i) labels.push_back(i % 9 == 8 ? -1 : i % 4);
  const NodeSplit s = random_split(labels, 4, {20, 100, 200, 3});
  EXPECT_EQ(s.train.size(), 80u);
  EXPECT_EQ(s.validation.size(), 100u);
  EXPECT_EQ(s.test.size(), 200u);
  std::vector<int64_t> all(s.train);
  all.insert(all.end(), s.validation.begin(), s.validation.end());
  all.insert(all.end(), s.test.begin(), s.test.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  for (const int64_t node : all) EXPECT_GE(labels[static_cast<size_t>(node)], 0);
  EXPECT_NE(random_split(labels, 4, {20, 100, 200, 4}).train, s.train);
}

TEST(RandomSplit, SharesWhatIsShort) {
  std::vector<int64_t> labels(30);
  for (size_t i = 0; i < 30; ++i) labels[i] = static_cast<int64_t>(i % 3);
  const NodeSplit s = random_split(labels, 3, {20, 500, 1000, 0});
  EXPECT_EQ(s.train.size(), 15u) << "half of each class";
  EXPECT_EQ(s.validation.size(), 5u);
  EXPECT_EQ(s.test.size(), 10u);
  EXPECT_TRUE(random_split({}, 1, {}).train.empty());
}

}  // namespace
}  // namespace pantile::nn::test
