#pragma once

#include <pantile/core/buffer.h>
#include <pantile/graph/graph.h>
#include <optional>
#include <string>

namespace pantile {

/// A graph with the weights that its file held.
struct GraphFile {
  Graph graph;
  Array<float> weights;  ///< [edges] in CSR order; empty when the file has none
};

struct ReadGraphOptions {
  std::string format = {};  ///< "" = by name and content: mtx, snap, csv, metis, ogb, npz, scipy, pantile
  int64_t num_nodes = -1;   ///< edge lists: node count; -1 = 1 + the largest id
  bool undirected = false;  ///< edge lists: every line stands for both directions (self-loops once)
  int64_t base = -1;        ///< edge lists: first id, 0 or 1; -1 = as the format says (0)
};

/// Reads a graph from a file or OGB folder. Errors name the file, line and position.
Result<GraphFile> read_graph(const std::string& path, const ReadGraphOptions& options = {});

/// Writes by extension or `format`: .pantile (own, mmap-able), .mtx, .npz (scipy), .csv, .graph (METIS). Atomic:
/// temporary name, fsync, rename.
Status write_graph(const std::string& path, const Graph& g, std::span<const float> weights,
                   const std::string& format = "");

/// Maps a .pantile file; arrays stay on disk until touched. Header, sizes and checksums are verified.
Result<GraphFile> map_graph(const std::string& path);

}  // namespace pantile
