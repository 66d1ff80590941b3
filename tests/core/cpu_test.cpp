#include <gtest/gtest.h>
#include <pantile/core/cpu.h>
#include <pantile/core/function_ref.h>

#include <chrono>

#include "core/kernels/peaks.h"

namespace pantile {
namespace {

TEST(Cpu, InfoIsFilledAndConsistent) {
  const CpuInfo info = cpu_info();
  EXPECT_FALSE(info.model.empty());
  EXPECT_FALSE(info.simd_target.empty());
  EXPECT_GE(info.logical_cpus, 1);
  EXPECT_GE(info.l1d_bytes, 0);
  EXPECT_TRUE(info.l2_bytes == 0 || info.l2_bytes >= info.l1d_bytes);
}

TEST(Cpu, PeaksArePositiveAndQuicklyMeasured) {
  const auto start = std::chrono::steady_clock::now();
  const MachinePeaks peaks = measure_peaks(2);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GT(peaks.copy_gb_per_s, 0.01);
  EXPECT_GT(peaks.gather_gb_per_s, 0.01);
  EXPECT_GT(peaks.gather_cached_gb_per_s, peaks.gather_gb_per_s / 4);
  EXPECT_GT(peaks.gflop_per_s, 0.01);
  EXPECT_LT(seconds, 60);
}

TEST(Cpu, TheGatherLoopSumsTheLastGroupOfRows) {
  std::vector<float> table(7 * 64);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 13);
  std::vector<int32_t> index;
  for (int32_t i = 0; i < 32 + 5; ++i) index.push_back((i * 3) % 7);
  std::vector<float> out(64), expected(64);
  for (size_t p = 32; p < index.size(); ++p) {
    for (size_t c = 0; c < 64; ++c) expected[c] += table[static_cast<size_t>(index[p]) * 64 + c];
  }
  kernels::sum_rows(table.data(), index.data(), static_cast<int64_t>(index.size()), out.data());
  EXPECT_EQ(out, expected);
}

TEST(FunctionRef, CallsWhatItRefersToWithoutCopies) {
  int calls = 0;
  auto add = [&calls](int n) { return calls += n; };
  const FunctionRef<int(int)> ref = add;
  EXPECT_EQ(ref(2), 2);
  EXPECT_EQ(ref(3), 5);
  const auto constant = [](int n) { return n + 1; };
  EXPECT_EQ(FunctionRef<int(int)>(constant)(1), 2);
}

}  // namespace
}  // namespace pantile
