#pragma once

#include <pantile/core/matrix.h>
#include <pantile/core/progress.h>
#include <pantile/graph/graph.h>
#include <vector>

namespace pantile {

/// R-MAT (Chakrabarti et al., SDM'04): 2^scale nodes, edge_factor * 2^scale edge draws, node ids permuted; duplicates
/// removed when `simple`. The same for any thread count.
struct RmatOptions {
  int scale = 17;
  int edge_factor = 16;
  double a = 0.57, b = 0.19, c = 0.19;
  bool simple = true;
  uint64_t seed = 3;
};
Result<Graph> generate_rmat(const RmatOptions& options);

/// Communities of `community` consecutive nodes; each node draws `degree` sources, a share `inside` of them in its own
/// community, the rest anywhere; ids scrambled when `scramble`.
struct CommunityOptions {
  int64_t nodes = 131072;
  int degree = 16;
  int community = 64;
  double inside = 0.9;
  bool scramble = true;
  bool simple = true;
  uint64_t seed = 4;
};
Result<Graph> generate_community(const CommunityOptions& options);

/// Stochastic block model: labels[i] = i * blocks / nodes; expected degree_in edges inside and degree_out to other
/// blocks.
struct SbmOptions {
  int64_t nodes = 10000;
  int blocks = 10;
  double degree_in = 8, degree_out = 2;
  uint64_t seed = 5;
};
struct Sbm {
  Graph graph;
  std::vector<int64_t> labels;
};
Result<Sbm> generate_sbm(const SbmOptions& options);

/// width x height grid, 4 or 8 neighbours, both directions.
Result<Graph> generate_grid(int64_t width, int64_t height, int neighbours = 4);

/// Directed k-nearest-neighbour graph under cosine similarity or Euclidean distance: row i holds its k nearest other
/// rows of x (ties: smaller id). x: fp32 [n, d], finite. `symmetric` adds the reverse edges without duplicates. O(n^2
/// d) work in blocks, O(n k) memory.
enum class Metric { cosine, euclidean };
Result<Graph> nearest_neighbours(ConstMatrix x, int k, Metric metric, bool symmetric, Progress* progress = nullptr);

}  // namespace pantile
