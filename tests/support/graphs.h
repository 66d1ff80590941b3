#pragma once

#include <pantile/core/random.h>
#include <pantile/graph/graph.h>
#include <cstdint>
#include <string>
#include <vector>

namespace pantile::test {

struct NamedGraph {
  std::string name;
  Graph graph;
};

inline Graph graph_of(std::vector<int64_t> src, std::vector<int64_t> dst, int64_t rows, int64_t cols) {
  return Graph::from_edges(std::span<const int64_t>(src), std::span<const int64_t>(dst), rows, cols).value();
}

/// `edges` uniform draws, duplicates and loops included; isolated nodes appear by themselves.
inline Graph random_graph(int64_t rows, int64_t cols, int64_t edges, uint64_t seed) {
  Random r(seed);
  std::vector<int64_t> src, dst;
  for (int64_t k = 0; k < edges; ++k) {
    src.push_back(static_cast<int64_t>(r.below(static_cast<uint64_t>(cols))));
    dst.push_back(static_cast<int64_t>(r.below(static_cast<uint64_t>(rows))));
  }
  return graph_of(std::move(src), std::move(dst), rows, cols);
}

/// One row with `edges` edges, most of them duplicates, beside short and empty rows.
inline Graph hub_graph(int64_t nodes, int64_t edges, uint64_t seed) {
  Random r(seed);
  std::vector<int64_t> src, dst;
  for (int64_t k = 0; k < edges; ++k) {
    src.push_back(static_cast<int64_t>(r.below(static_cast<uint64_t>(nodes))));
    dst.push_back(nodes / 2);
  }
  for (int64_t i = 0; i + 1 < nodes; i += 3) {
    src.push_back(i);
    dst.push_back(i + 1);
  }
  return graph_of(std::move(src), std::move(dst), nodes, nodes);
}

/// Shapes that break kernels: nothing at all, no edges, bipartite both ways, multigraph, loops, node counts off every
/// multiple, hubs longer than a segment, and rows of every short degree.
inline std::vector<NamedGraph> graph_zoo() {
  std::vector<NamedGraph> zoo;
  zoo.push_back({"no nodes", Graph()});
  zoo.push_back({"one node", graph_of({}, {}, 1, 1)});
  zoo.push_back({"no edges", graph_of({}, {}, 3, 5)});
  zoo.push_back({"no rows", graph_of({}, {}, 0, 4)});
  zoo.push_back({"one loop", graph_of({0}, {0}, 1, 1)});
  zoo.push_back({"chain", graph_of({0, 1, 2, 3}, {1, 2, 3, 4}, 5, 5)});
  zoo.push_back({"multigraph", graph_of({0, 1, 1, 3, 3, 5, 10}, {0, 2, 2, 4, 4, 2, 5}, 11, 11)});
  zoo.push_back({"wide", random_graph(7, 300, 400, 11)});
  zoo.push_back({"tall", random_graph(301, 5, 700, 12)});
  zoo.push_back({"sparse", random_graph(517, 517, 600, 13)});
  zoo.push_back({"dense rows", random_graph(37, 37, 4000, 14)});
  zoo.push_back({"hub", hub_graph(101, 20'000, 15)});
  std::vector<int64_t> src, dst;
  for (int64_t i = 0; i < 70; ++i)
    for (int64_t k = 0; k < i; ++k) {
      src.push_back((i * 7 + k * 3) % 70);
      dst.push_back((i * 29) % 70);
    }
  zoo.push_back({"every degree below 70", graph_of(std::move(src), std::move(dst), 70, 70)});
  return zoo;
}

}  // namespace pantile::test
