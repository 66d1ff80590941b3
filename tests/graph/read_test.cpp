#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "graph/graph_cases.h"
#include "pantile/core/hash.h"
#include "pantile/graph/generate.h"
#include "pantile/graph/read.h"

namespace pantile {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "pantile-graph-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void spill(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

struct Weighted {
  Graph graph;
  std::vector<float> weights;
};
Weighted weighted_graph() {
  Weighted w{graph_of(random_edges(200, 200, 900, 1)), {}};
  Random random(2);
  for (int64_t k = 0; k < w.graph.edges(); ++k) w.weights.push_back(static_cast<float>(random.normal()));
  return w;
}

void expect_same(const GraphFile& file, const Weighted& w) {
  EXPECT_EQ(file.graph.fingerprint(), w.graph.fingerprint());
  EXPECT_TRUE(file.graph.edge_id().empty());
  EXPECT_EQ(std::vector<float>(file.weights.begin(), file.weights.end()), w.weights);
}

TEST(ReadGraph, EveryFormatGivesBackWhatWasWritten) {
  const Folder folder;
  const Weighted w = weighted_graph();
  for (const std::string name : {"g.pantile", "g.mtx", "g.mtx.gz", "g.npz", "g.csv"}) {
    SCOPED_TRACE(name);
    const auto written = write_graph(folder.file(name), w.graph, w.weights);
    ASSERT_TRUE(written.has_value()) << written.error().message;
    const auto read = read_graph(folder.file(name));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    expect_same(*read, w);
  }
  const Graph grid = *generate_grid(9, 7);
  ASSERT_TRUE(write_graph(folder.file("g.graph"), grid, {}).has_value());
  const auto metis = read_graph(folder.file("g.graph"));
  ASSERT_TRUE(metis.has_value()) << metis.error().message;
  EXPECT_EQ(metis->graph.fingerprint(), grid.fingerprint());
  EXPECT_TRUE(metis->weights.empty());
}

TEST(ReadGraph, FormatIsFoundByContentWhereTheNameSaysNothing) {
  const Folder folder;
  const Weighted w = weighted_graph();
  for (const std::string format : {"pantile", "mtx", "npz", "csv"}) {
    ASSERT_TRUE(write_graph(folder.file(format), w.graph, w.weights, format).has_value());
    const auto read = read_graph(folder.file(format));
    ASSERT_TRUE(read.has_value()) << format << ": " << read.error().message;
    expect_same(*read, w);
  }
  spill(folder.file("letters"), "hello");
  EXPECT_EQ(read_graph(folder.file("letters")).error().code, ErrorCode::invalid_argument);
}

TEST(ReadGraph, WeightsFollowTheirEdgesIntoCsrOrder) {
  const Folder folder;
  spill(folder.file("e.csv"), "3,0,30\n0,0,1\n2,1,21\n0,1,1.5\n");
  const GraphFile g = *read_graph(folder.file("e.csv"));
  EXPECT_EQ(copy(g.graph.col()), (std::vector<int32_t>{0, 3, 0, 2}));
  EXPECT_EQ(std::vector<float>(g.weights.begin(), g.weights.end()), (std::vector<float>{1, 30, 1.5, 21}));
  EXPECT_EQ(g.graph.rows(), 4);
  EXPECT_EQ(g.graph.cols(), 4);
}

TEST(ReadGraph, EdgeListOptionsAreHonoured) {
  const Folder folder;
  spill(folder.file("e.txt"), "# comment\n1\t2\n2\t2\n3\t1\n");
  const GraphFile g = *read_graph(folder.file("e.txt"), {.num_nodes = 6, .undirected = true, .base = 1});
  EXPECT_EQ(g.graph.rows(), 6);
  EXPECT_EQ(copy(g.graph.ptr()), (std::vector<int64_t>{0, 2, 4, 5, 5, 5, 5}));
  const auto small = read_graph(folder.file("e.txt"), {.num_nodes = 3});
  ASSERT_FALSE(small.has_value());
  EXPECT_EQ(small.error().code, ErrorCode::out_of_range);
  EXPECT_NE(small.error().message.find("e.txt"), std::string::npos);
}

TEST(ReadGraph, MissingFilesFoldersAndFormatsAreNamed) {
  const Folder folder;
  EXPECT_EQ(read_graph(folder.file("none.mtx")).error().code, ErrorCode::io);
  EXPECT_EQ(read_graph(folder.file("")).error().code, ErrorCode::invalid_argument);
  spill(folder.file("x.mtx"), "");
  EXPECT_FALSE(read_graph(folder.file("x.mtx")).has_value());
  EXPECT_NE(read_graph(folder.file("x.mtx"), {.format = "gml"}).error().message.find("format gml is not known"),
            std::string::npos);
  const Graph g = *generate_grid(2, 2);
  EXPECT_EQ(write_graph(folder.file("x.gml"), g, {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(write_graph(folder.file("no/such/folder/x.pantile"), g, {}).error().code, ErrorCode::io);
  const std::vector<float> w = {1};
  EXPECT_EQ(write_graph(folder.file("y.pantile"), g, w).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(folder.files(), 1u);  // nothing but x.mtx: what failed left nothing behind
}

TEST(GraphFileFormat, EmptyAndBipartiteGraphsSurvive) {
  const Folder folder;
  for (const Graph& g : {Graph(), graph_of(Edges{3, 9, {}, {}}), graph_of(random_edges(7, 300, 500, 3))}) {
    ASSERT_TRUE(write_graph(folder.file("g.pantile"), g, {}).has_value());
    const GraphFile mapped = *map_graph(folder.file("g.pantile"));
    EXPECT_EQ(mapped.graph.fingerprint(), g.fingerprint());
    EXPECT_EQ(fs::file_size(folder.file("g.pantile")) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(mapped.graph.ptr().data()) % 64, 0u);
  }
}

TEST(GraphFileFormat, MappedGraphOutlivesTheNameOfItsFile) {
  const Folder folder;
  const Weighted w = weighted_graph();
  ASSERT_TRUE(write_graph(folder.file("g.pantile"), w.graph, w.weights).has_value());
  const GraphFile mapped = *map_graph(folder.file("g.pantile"));
  ASSERT_TRUE(
      write_graph(folder.file("g.pantile"), *generate_grid(2, 2), {}).has_value());  // replaced, not overwritten
  expect_same(mapped, w);
}

TEST(GraphFileFormat, EveryTruncationIsRefused) {
  const Folder folder;
  ASSERT_TRUE(write_graph(folder.file("g.pantile"), *generate_grid(5, 4), {}).has_value());
  const std::string bytes = slurp(folder.file("g.pantile"));
  for (size_t n = 0; n < bytes.size(); n += n < 300 ? 1 : 7) {
    spill(folder.file("cut.pantile"), bytes.substr(0, n));
    EXPECT_FALSE(map_graph(folder.file("cut.pantile")).has_value()) << n;
  }
  spill(folder.file("long.pantile"), bytes + "x");
  EXPECT_EQ(map_graph(folder.file("long.pantile")).error().code, ErrorCode::corrupt);
}

TEST(GraphFileFormat, AFlippedBitInAnyByteIsRefusedOrHarmless) {
  const Folder folder;
  const Weighted w{*generate_grid(4, 3), std::vector<float>(34, 0.5f)};
  ASSERT_TRUE(write_graph(folder.file("g.pantile"), w.graph, w.weights).has_value());
  const std::string bytes = slurp(folder.file("g.pantile"));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at * 5 % 8));
    spill(folder.file("bad.pantile"), damaged);
    const auto read = map_graph(folder.file("bad.pantile"));
    if (read) expect_same(*read, w);  // padding between sections carries nothing
  }
}

TEST(GraphFileFormat, ForgedHeadersWithRightChecksumsAreRefused) {
  const Folder folder;
  const Graph g = graph_of(Edges{3, 3, {1, 2, 1}, {0, 0, 2}});
  ASSERT_TRUE(write_graph(folder.file("g.pantile"), g, {}).has_value());
  const std::string bytes = slurp(folder.file("g.pantile"));
  const auto forge = [&](size_t offset, auto value) {
    std::string forged = bytes;
    std::memcpy(forged.data() + offset, &value, sizeof value);
    const int64_t edges = 3, ptr_at = 256, col_at = 320;
    for (const auto& [section, at, size] :
         {std::tuple<size_t, int64_t, int64_t>{80, ptr_at, 32}, {96, col_at, 4 * edges}}) {
      const Hash128 h = hash_bytes(forged.data() + at, static_cast<size_t>(size));
      std::memcpy(forged.data() + section, &h, sizeof h);
    }
    const Hash128 h = hash_bytes(forged.data(), 240);
    std::memcpy(forged.data() + 240, &h, sizeof h);
    spill(folder.file("forged.pantile"), forged);
    return map_graph(folder.file("forged.pantile"));
  };
  EXPECT_TRUE(forge(0, 'P').has_value());                                 // nothing changed
  EXPECT_EQ(forge(8, uint32_t{2}).error().code, ErrorCode::unsupported);  // a later version
  EXPECT_EQ(forge(12, uint32_t{0x04030201}).error().code, ErrorCode::unsupported);
  for (const int64_t count :
       {int64_t{-1}, int64_t{1} << 62, int64_t{1} << 31, int64_t{4}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_FALSE(forge(16, count).has_value()) << "rows " << count;
    EXPECT_FALSE(forge(32, count).has_value()) << "edges " << count;
  }
  EXPECT_EQ(forge(24, int64_t{2}).error().code, ErrorCode::corrupt);  // column 2 of 2
  EXPECT_EQ(forge(48, uint64_t{1} << 40).error().code, ErrorCode::corrupt);
  EXPECT_EQ(forge(256, int64_t{1}).error().code, ErrorCode::corrupt);  // ptr[0]
  EXPECT_EQ(forge(264, int64_t{9}).error().code, ErrorCode::corrupt);  // ptr[1] beyond the edges
  EXPECT_EQ(forge(280, int64_t{2}).error().code, ErrorCode::corrupt);  // ptr[rows]
  EXPECT_EQ(forge(320, int32_t{-1}).error().code, ErrorCode::corrupt);
  EXPECT_EQ(forge(324, int32_t{0}).error().code, ErrorCode::corrupt);  // columns 1, 0: not ascending
}

std::string data_folder() {
  const char* folder = std::getenv("PANTILE_DATA");
  return folder == nullptr ? std::string() : std::string(folder) + "/data/graphs";
}

TEST(RealGraphs, ChesapeakeHas340EdgesForAnyThreadCount) {  // a loader that removed 20 "duplicates" of a clean file
  if (data_folder().empty()) {
    GTEST_LOG_(INFO) << "PANTILE_DATA is not set: real graphs are not read";
    return;
  }
  for (const int threads : {1, 2, 3, 7, 8, 16, 64}) {
    const Threads scope(threads);
    const auto g = read_graph(data_folder() + "/networkit/chesapeake.mtx");
    ASSERT_TRUE(g.has_value()) << g.error().message;
    EXPECT_EQ(g->graph.rows(), 39);
    EXPECT_EQ(g->graph.edges(), 340);
    EXPECT_EQ(g->graph.profile().duplicates, 0);
    EXPECT_EQ(g->graph.profile().self_loops, 0);
    EXPECT_TRUE(g->graph.profile().symmetric);
  }
}

TEST(RealGraphs, CountsAgreeWithTheirDescriptions) {
  if (data_folder().empty()) {
    GTEST_LOG_(INFO) << "PANTILE_DATA is not set: real graphs are not read";
    return;
  }
  struct Expectation {
    const char* file;
    int64_t nodes, edges, loops;
  };
  for (const Expectation& e : {Expectation{"networkit/4elt.graph.gz", 15606, 2 * 45878, 0},
                               {"metis/copter2.graph.gz", 55476, 2 * 352238, 0},
                               {"networkit/karate.graph", 34, 2 * 78, 0},
                               {"snap/ca-astroph-cc1_und.edges1.csv.gz", 17903, 2 * 197031 - 59, 59}}) {
    const auto g = read_graph(data_folder() + "/" + e.file);
    ASSERT_TRUE(g.has_value()) << g.error().message;
    EXPECT_EQ(g->graph.rows(), e.nodes) << e.file;
    EXPECT_EQ(g->graph.edges(), e.edges) << e.file;
    EXPECT_EQ(g->graph.profile().self_loops, e.loops) << e.file;
    EXPECT_TRUE(g->graph.profile().symmetric) << e.file;
  }
}

}  // namespace
}  // namespace pantile
