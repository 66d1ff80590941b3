#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// The seam of the command line: main.cpp parses arguments and fills these structs, one file per verb does the work.
/// A run_ function returns the exit code: 0 done, 1 the answer is no, 2 bad usage or input, 3 a failure of the machine.
/// Its result goes to stdout through console.h, everything else to stderr.
namespace pantile::cli {

class RunRecord;

enum class ColorMode { automatic, always, never };

/// What every verb accepts.
struct GlobalOptions {
  bool json = false;        ///< one JSON document on stdout
  bool quiet = false;       ///< no progress on stderr
  bool dry_run = false;     ///< say what would be done, write nothing
  uint64_t seed = 0;        ///< of everything random
  bool seed_given = false;  ///< false: each verb's own documented default
  int threads = 0;          ///< 0: PANTILE_NUM_THREADS, OMP_NUM_THREADS, else all CPUs of this process
  ColorMode color = ColorMode::automatic;
  std::string manifest;               ///< where to write the run's manifest; "" = nowhere
  std::shared_ptr<RunRecord> record;  ///< never null: inputs, outputs, timings and plan of this run (run_record.h)
  uint64_t seed_or(uint64_t otherwise) const { return seed_given ? seed : otherwise; }
};

/// How to read a graph; see ReadGraphOptions.
struct GraphSource {
  std::string path;
  std::string format;
  int64_t num_nodes = -1;
  bool undirected = false;
  int64_t base = -1;
};

struct DoctorOptions {
  bool measure = true;
};
int run_doctor(const DoctorOptions& options, const GlobalOptions& global);

struct GraphInfoOptions {
  GraphSource graph;
};
int run_graph_info(const GraphInfoOptions& options, const GlobalOptions& global);

struct GraphConvertOptions {
  GraphSource graph;
  std::string out, to;
  std::string coalesce;  ///< "" keeps parallel edges; else sum, mean, min, max, first
};
int run_graph_convert(const GraphConvertOptions& options, const GlobalOptions& global);

struct GraphReorderOptions {
  GraphSource graph;
  std::string how = "auto";  ///< degree, bfs, rcm, community, auto
  std::string out, permutation;
  int64_t calls = 1000;  ///< SpMM calls that auto may earn its cost back in
};
int run_graph_reorder(const GraphReorderOptions& options, const GlobalOptions& global);

struct GraphGenerateOptions {
  std::string kind;    ///< rmat, community, sbm, grid
  std::string out;     ///< any name that write_graph takes
  std::string labels;  ///< sbm: .npy for the block of every node; "" = nowhere
  int64_t scale = 14, edge_factor = 16;
  int64_t nodes = 10000, degree = 16, community = 64, blocks = 10;
  double inside = 0.9, degree_in = 8, degree_out = 2;
  int64_t width = 100, height = 100, neighbours = 4;
  bool keep_duplicates = false, ordered = false;
};
int run_graph_generate(const GraphGenerateOptions& options, const GlobalOptions& global);

struct GraphKnnOptions {
  std::string features;  ///< .npy, [n, ...] of numbers
  std::string labels;    ///< .npy [n] of integers; "" = none
  std::string out;
  int64_t k = 10;
  std::string metric = "cosine";
  int64_t limit = -1;  ///< first rows only; -1 = all
  double scale = 1;    ///< features are multiplied by it, such as 1/255 for bytes
  bool directed = false, dataset = false;
};
int run_graph_knn(const GraphKnnOptions& options, const GlobalOptions& global);

struct SparsePlanOptions {
  GraphSource graph;
  std::vector<std::string> ops = {"spmm"};
  std::vector<int64_t> widths = {64};
  std::string dtype = "float32";
  bool measure = false;
  double budget = 1;  ///< seconds per measured operator
};
int run_sparse_profile(const SparsePlanOptions& options, const GlobalOptions& global);
int run_sparse_plan(const SparsePlanOptions& options, const GlobalOptions& global);
int run_sparse_explain(const SparsePlanOptions& options, const GlobalOptions& global);

struct BenchSparseOptions {
  std::vector<GraphSource> graphs;  ///< empty: two generated ones
  std::vector<std::string> ops = {"spmm", "sddmm", "gcn"};
  std::vector<int64_t> widths = {16, 64, 128};
  std::string dtype = "float32";
  double budget = 0.5;
};
int run_bench_sparse(const BenchSparseOptions& options, const GlobalOptions& global);

struct RerunOptions {
  std::string manifest;
  std::string keep;  ///< folder for the replayed outputs; "" = a temporary one, removed afterwards
};
int run_rerun(const RerunOptions& options, const GlobalOptions& global);

}  // namespace pantile::cli
