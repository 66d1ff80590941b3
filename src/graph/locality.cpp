#include "graph/locality.h"

#include <algorithm>
#include <vector>

namespace pantile {
namespace {

constexpr int64_t kSamples = 64, kWindowRows = 8, kUnitEdges = 512;
constexpr int64_t kMostEdges = int64_t{1} << 16;  // a window of hubs is cut here: sampling must stay cheap

struct Window {
  int64_t distinct = 0, edges = 0;
};
Window count(const Csr& csr, int64_t begin, int64_t end) {
  std::vector<int32_t> columns(csr.col + begin, csr.col + std::min(end, begin + kMostEdges));
  std::sort(columns.begin(), columns.end());
  const auto last = std::unique(columns.begin(), columns.end());
  return {last - columns.begin(), static_cast<int64_t>(columns.size())};
}

/// Windows spread evenly over [0, windows), all of them when there are few.
template <class At>
double sample(int64_t windows, At at) {
  Window sum;
  const int64_t samples = std::min(windows, kSamples);
  for (int64_t s = 0; s < samples; ++s) {
    const Window w = at(windows * s / samples);
    sum.distinct += w.distinct;
    sum.edges += w.edges;
  }
  return sum.edges == 0 ? 0 : static_cast<double>(sum.distinct) / static_cast<double>(sum.edges);
}

}  // namespace

double distinct_in_row_windows(const Csr& csr) {
  return sample((csr.rows + kWindowRows - 1) / kWindowRows, [&](int64_t w) {
    return count(csr, csr.ptr[w * kWindowRows], csr.ptr[std::min(csr.rows, (w + 1) * kWindowRows)]);
  });
}

double distinct_in_units(const Csr& csr) {
  const int64_t edges = csr.edges();
  return sample((edges + kUnitEdges - 1) / kUnitEdges,
                [&](int64_t u) { return count(csr, u * kUnitEdges, std::min(edges, (u + 1) * kUnitEdges)); });
}

}  // namespace pantile
