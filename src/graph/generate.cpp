#include <pantile/graph/generate.h>

#include <fmt/format.h>

#include <pantile/core/random.h>
#include <pantile/core/thread_pool.h>
#include <pantile/graph/coalesce.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/state.h"

namespace pantile {
namespace {

constexpr int64_t kDrawGrain = 1 << 14;  // draws per random stream: the same for any thread count
constexpr int64_t kMostNodes = std::numeric_limits<int32_t>::max();

struct Draws {
  Array<int32_t> src, dst;
};
Result<Draws> allocate_draws(int64_t edges) {
  PANTILE_CHECK(check_memory(8 * edges, fmt::format("drawing {} edges", edges)));
  Draws d;
  PANTILE_TRY(d.src, Array<int32_t>::allocate(edges));
  PANTILE_TRY(d.dst, Array<int32_t>::allocate(edges));
  return d;
}

/// A random permutation of 0 .. n-1 (Fisher-Yates; sequential, so that it is one stream).
std::vector<int32_t> permutation(int64_t n, uint64_t seed) {
  std::vector<int32_t> p(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) p[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  Random random(seed, ~uint64_t{0});
  for (int64_t i = n - 1; i > 0; --i) {
    std::swap(p[static_cast<size_t>(i)], p[random.below(static_cast<uint64_t>(i) + 1)]);
  }
  return p;
}

Result<Graph> build(const Draws& draws, int64_t nodes, bool simple) {
  PANTILE_TRY(Graph g, Graph::from_edges(draws.src.span(), draws.dst.span(), nodes, nodes));
  if (simple) {
    PANTILE_TRY(Coalesced c, coalesce(g, {}, Coalesce::first));
    return std::move(c.graph);
  }
  return GraphAssembly::without_ids(g);  // the order of the draws means nothing to anyone
}

Status check_share(double value, const char* name) {
  if (value >= 0 && value <= 1) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("{} is {}; it must be in [0, 1]", name, value));
}
Status check_range(int64_t value, int64_t low, int64_t high, const char* name) {
  if (value >= low && value <= high) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("{} is {}; it must be in [{}, {}]", name, value, low, high));
}

}  // namespace

Result<Graph> generate_rmat(const RmatOptions& options) {
  PANTILE_CHECK(check_range(options.scale, 0, 30, "scale"));
  PANTILE_CHECK(check_range(options.edge_factor, 0, 1 << 20, "edge_factor"));
  PANTILE_CHECK(check_share(options.a, "a"));
  PANTILE_CHECK(check_share(options.b, "b"));
  PANTILE_CHECK(check_share(options.c, "c"));
  PANTILE_CHECK(check_share(options.a + options.b + options.c, "a + b + c"));
  const int64_t nodes = int64_t{1} << options.scale, edges = nodes * options.edge_factor;
  PANTILE_TRY(Draws draws, allocate_draws(edges));
  const std::vector<int32_t> name = permutation(nodes, options.seed);
  parallel_for(edges, kDrawGrain, [&](int64_t begin, int64_t end) {
    Random random(options.seed, static_cast<uint64_t>(begin / kDrawGrain));
    for (int64_t i = begin; i < end; ++i) {
      uint32_t src = 0, dst = 0;
      for (int level = 0; level < options.scale; ++level) {
        const double u = random.uniform_double();
        const bool right = (u >= options.a && u < options.a + options.b) || u >= options.a + options.b + options.c;
        const bool down = u >= options.a + options.b;
        src = src << 1 | static_cast<uint32_t>(right);
        dst = dst << 1 | static_cast<uint32_t>(down);
      }
      draws.src[i] = name[src];
      draws.dst[i] = name[dst];
    }
  });
  return build(draws, nodes, options.simple);
}

Result<Graph> generate_community(const CommunityOptions& options) {
  PANTILE_CHECK(check_range(options.nodes, 0, kMostNodes, "nodes"));
  PANTILE_CHECK(check_range(options.degree, 0, 1 << 20, "degree"));
  PANTILE_CHECK(check_range(options.community, 1, kMostNodes, "community"));
  PANTILE_CHECK(check_share(options.inside, "inside"));
  const int64_t nodes = options.nodes, degree = options.degree;
  PANTILE_TRY(Draws draws, allocate_draws(nodes * degree));
  const std::vector<int32_t> name = options.scramble ? permutation(nodes, options.seed) : std::vector<int32_t>();
  const auto renamed = [&](int64_t i) { return name.empty() ? static_cast<int32_t>(i) : name[static_cast<size_t>(i)]; };
  constexpr int64_t kNodeGrain = 1024;
  parallel_for(nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    Random random(options.seed, static_cast<uint64_t>(begin / kNodeGrain));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i / options.community * options.community,
                    last = std::min<int64_t>(nodes, first + options.community);
      for (int64_t k = i * degree; k < (i + 1) * degree; ++k) {
        const bool inside = random.uniform_double() < options.inside;
        const int64_t low = inside ? first : 0, high = inside ? last : nodes;
        draws.src[k] = renamed(low + static_cast<int64_t>(random.below(static_cast<uint64_t>(high - low))));
        draws.dst[k] = renamed(i);
      }
    }
  });
  return build(draws, nodes, options.simple);
}

Result<Sbm> generate_sbm(const SbmOptions& options) {
  PANTILE_CHECK(check_range(options.nodes, 0, kMostNodes, "nodes"));
  PANTILE_CHECK(check_range(options.blocks, 1, kMostNodes, "blocks"));
  for (const double degree : {options.degree_in, options.degree_out}) {
    if (degree >= 0 && degree < 1e6) continue;
    return fail(ErrorCode::invalid_argument,
                fmt::format("an expected degree is {}; it must be in [0, 1000000)", degree));
  }
  const int64_t nodes = options.nodes, blocks = options.blocks;
  const auto block_of = [&](int64_t i) { return i * blocks / nodes; };
  const auto start_of = [&](int64_t b) {
    return (b * nodes + blocks - 1) / blocks;
  };  // first i with i * blocks / nodes >= b

  // Each unordered pair i > j is an edge with the probability that gives the expected degrees; both directions are
  // stored. Skipping ahead by a geometric step visits only the edges (Batagelj and Brandes, Phys. Rev. E 2005).
  constexpr int64_t kNodeGrain = 256;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> of_chunk(
      static_cast<size_t>((nodes + kNodeGrain - 1) / kNodeGrain));
  parallel_for(nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    Random random(options.seed, static_cast<uint64_t>(begin / kNodeGrain));
    auto& pairs = of_chunk[static_cast<size_t>(begin / kNodeGrain)];
    const auto draw = [&](int64_t i, int64_t low, int64_t high, double probability) {
      if (probability <= 0) return;
      if (probability >= 1) {
        for (int64_t j = low; j < high; ++j) pairs.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(j));
        return;
      }
      const double scale = 1 / std::log1p(-probability);
      for (int64_t j = low;; ++j) {
        const double step = std::floor(std::log1p(-random.uniform_double()) * scale);
        if (!(step < static_cast<double>(high - j))) break;
        j += static_cast<int64_t>(step);
        pairs.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(j));
      }
    };
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = block_of(i), first = start_of(b), size = std::min(nodes, start_of(b + 1)) - first;
      const double p_in = size > 1 ? std::min(1.0, options.degree_in / static_cast<double>(size - 1)) : 0;
      const double p_out = nodes > size ? std::min(1.0, options.degree_out / static_cast<double>(nodes - size)) : 0;
      draw(i, 0, first, p_out);
      draw(i, first, i, p_in);
    }
  });
  int64_t count = 0;
  for (const auto& pairs : of_chunk) count += static_cast<int64_t>(pairs.size());
  PANTILE_TRY(Draws draws, allocate_draws(2 * count));
  int64_t at = 0;
  for (const auto& pairs : of_chunk) {
    for (const auto& [i, j] : pairs) {
      draws.src[at] = draws.dst[at + 1] = j;
      draws.dst[at] = draws.src[at + 1] = i;
      at += 2;
    }
  }
  PANTILE_TRY(Graph g, build(draws, nodes, false));
  std::vector<int64_t> labels(static_cast<size_t>(nodes));
  for (int64_t i = 0; i < nodes; ++i) labels[static_cast<size_t>(i)] = block_of(i);
  return Sbm{std::move(g), std::move(labels)};
}

Result<Graph> generate_grid(int64_t width, int64_t height, int neighbours) {
  PANTILE_CHECK(check_range(width, 0, kMostNodes, "width"));
  PANTILE_CHECK(check_range(height, 0, kMostNodes, "height"));
  if (neighbours != 4 && neighbours != 8) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a grid of {} neighbours is not known; choose 4 or 8", neighbours));
  }
  const int64_t nodes = width * height;  // both are below 2^31
  PANTILE_CHECK(check_node_counts(nodes, nodes));
  const auto for_neighbours = [&](int64_t node, auto&& f) {
    const int64_t x = node % width, y = node / width;
    for (int64_t dy = -1; dy <= 1; ++dy) {
      for (int64_t dx = -1; dx <= 1; ++dx) {
        if ((dx == 0 && dy == 0) || (neighbours == 4 && dx != 0 && dy != 0)) continue;
        if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) f(node + dy * width + dx);
      }
    }
  };
  PANTILE_CHECK(check_memory(8 * (nodes + 1) + 4 * nodes * neighbours, fmt::format("a grid of {} nodes", nodes)));
  SortedEdges out;
  PANTILE_TRY(out.ptr, Array<int64_t>::allocate(nodes + 1));
  constexpr int64_t kNodeGrain = 4096;
  parallel_for(nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t degree = 0;
      for_neighbours(i, [&](int64_t) { ++degree; });
      out.ptr[i + 1] = degree;
    }
  });
  out.ptr[0] = 0;
  for (int64_t i = 0; i < nodes; ++i) out.ptr[i + 1] += out.ptr[i];
  PANTILE_TRY(out.col, Array<int32_t>::allocate(out.ptr[nodes]));
  parallel_for(nodes, kNodeGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = out.ptr[i];
      for_neighbours(i, [&](int64_t j) { out.col[at++] = static_cast<int32_t>(j); });
    }
  });
  return GraphAssembly::own(nodes, nodes, std::move(out));
}

}  // namespace pantile
