#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <fstream>

#include "graph/graph_cases.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PANTILE_ALLOCATOR_REPLACED 1
#endif

namespace pantile {
namespace {

int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  return -1;
}

/// Highest growth of the resident set while `work` runs.
template <class Work>
int64_t peak_growth(const Work& work) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // resets VmHWM
  const int64_t before = status_bytes("VmRSS:");
  work();
  return status_bytes("VmHWM:") - before;
}

void expect_small_peak(const Edges& e) {
  Graph g;
  const int64_t peak = peak_growth([&] { g = graph_of(e); });
  const int64_t csr = static_cast<int64_t>(g.ptr().size_bytes() + g.col().size_bytes() + g.edge_id().size_bytes());
#ifndef PANTILE_ALLOCATOR_REPLACED
  EXPECT_LE(static_cast<double>(peak), 2.2 * static_cast<double>(csr)) << peak << " bytes for a CSR of " << csr;
  EXPECT_GE(peak, csr / 2) << "the measurement saw nothing";
#endif
  testing::Test::RecordProperty("memory_factor", std::to_string(static_cast<double>(peak) / static_cast<double>(csr)));
}

TEST(GraphMemory, BuildNeedsAtMost2Point2TimesTheCsr) { expect_small_peak(random_edges(200000, 200000, 6'000'000, 1)); }

TEST(GraphMemory, BuildOfOneHubNeedsNoMore) {
  Edges e = random_edges(1, 500000, 6'000'000, 2);
  e.rows = 1000;
  expect_small_peak(e);
}

TEST(GraphMemory, WideRecordsNeedNoMore) {
  Edges e = random_edges(4'000'000, 2'000'000, 6'000'000, 3);
  e.cols = int64_t{1} << 30;
  for (int64_t& s : e.src) s = s << 9 | 77;
  expect_small_peak(e);
}

}  // namespace
}  // namespace pantile
