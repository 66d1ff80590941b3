// Real graphs of the field, where PANTILE_DATA names the folder that holds them.
#include <gtest/gtest.h>
#include <pantile/core/thread_pool.h>
#include <pantile/io/edge_list.h>
#include <pantile/io/npy.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

namespace pantile {
namespace {

std::string graphs() {
  const char* const data = std::getenv("PANTILE_DATA");
  const std::string folder = data == nullptr ? "" : std::string(data) + "/data/graphs/";
  if (folder_exists(folder)) return folder;
  std::cout << "PANTILE_DATA is not set to a folder with data/graphs: nothing to read\n";
  return "";
}

TEST(RealData, ChesapeakeHas340EdgesAndNeitherDuplicatesNorLoops) {
  const std::string folder = graphs();
  if (folder.empty()) return;
  for (const int threads : {1, 2, 3, 7, 8, 16, 64}) {
    set_num_threads(threads);
    const auto e = read_matrix_market(folder + "networkit/chesapeake.mtx");
    ASSERT_TRUE(e) << e.error().message;
    EXPECT_EQ(e->edges(), 340);
    EXPECT_EQ(e->num_dst, 39);
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (int64_t k = 0; k < e->edges(); ++k) {
      EXPECT_NE(e->src[k], e->dst[k]);
      pairs.emplace(e->src[k], e->dst[k]);
    }
    EXPECT_EQ(pairs.size(), 340u);
  }
  set_num_threads(0);
}

TEST(RealData, EdgeListsHaveTheirKnownSizes) {
  const std::string folder = graphs();
  if (folder.empty()) return;
  struct Known {
    const char* file;
    int64_t edges, nodes;
  };
  for (const Known& known :
       {Known{"snap/as-caida20071105.edges1.csv.gz", 2 * 53381, 26475},
        Known{"snap/soc-slashdot0902_dir.edges1.csv.gz", 948464, 82168},
        Known{"snap/ca-astroph-cc1_und.edges1.csv.gz", 2 * 197031 - 59, 17903},
        Known{"graph_tool/celegansneural.edges.csv.gz", 2359, 297},
        Known{"planetoid_plain/citeseer.edges.csv.gz", 2 * 4676 - 124, 3327},
        Known{"musae/DE_edges.csv.gz", 153138, -1}, Known{"networkit/wiki-Vote.txt.gz", 103689, -1},
        Known{"networkit/comments.edgelist", 20, -1}}) {
    const auto e = read_csv_edges(folder + known.file);
    ASSERT_TRUE(e) << e.error().message;
    EXPECT_EQ(e->edges(), known.edges) << known.file;
    EXPECT_EQ(e->num_dst, known.nodes) << known.file;
  }
}

TEST(RealData, MetisAndMatrixMarketFilesHaveTheirKnownSizes) {
  const std::string folder = graphs();
  if (folder.empty()) return;
  const auto copter = read_metis(folder + "metis/copter2.graph.gz");
  ASSERT_TRUE(copter) << copter.error().message;
  EXPECT_EQ(copter->edges(), 2 * 352238);
  const auto lesmis = read_metis(folder + "networkit/lesmis.graph");
  ASSERT_TRUE(lesmis) << lesmis.error().message;
  EXPECT_EQ(lesmis->weights.size(), 2 * 254);
  const auto tiny = read_matrix_market(folder + "networkit/tiny_05.matrixmarket");
  ASSERT_TRUE(tiny) << tiny.error().message;
  EXPECT_EQ(tiny->edges(), 11);
}

TEST(RealData, ArchivesWrittenByNumpyAndScipyAreRead) {
  const std::string folder = graphs();
  if (folder.empty()) return;
  const auto cora = read_scipy_npz(folder + "shchur_npz/cora.npz");
  ASSERT_TRUE(cora) << cora.error().message;
  EXPECT_EQ(cora->edges(), 5429);
  std::vector<std::string> left_out;
  const auto arrays = read_npz(folder + "shchur_npz/cora.npz", &left_out);
  ASSERT_TRUE(arrays) << arrays.error().message;
  EXPECT_EQ(left_out, (std::vector<std::string>{"class_names", "node_names"}));
  const auto labels = to_int64(arrays->at("labels").view(), "labels");
  EXPECT_EQ(*std::max_element(labels->begin(), labels->end()), 6);
  EXPECT_EQ(read_scipy_npz(folder + "planetoid_plain/citeseer.features_csr.npz")->edges(), 105165);
}

}  // namespace
}  // namespace pantile
