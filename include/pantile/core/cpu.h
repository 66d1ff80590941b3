#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pantile {

/// What this machine offers and what the kernels make of it.
struct CpuInfo {
  std::string model;                  ///< as the system names it
  std::vector<std::string> features;  ///< "avx2", "fma", "avx512f", ... in use or available
  std::string simd_target;            ///< the Highway target that run-time dispatch chooses, such as "AVX2"
  int logical_cpus = 0;               ///< CPUs that this process may run on
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;
};
CpuInfo cpu_info();

/// Measured peaks of this machine, with `threads` threads of its own (minimum time over repetitions, about one second
/// in all). A figure is 0 when memory for its measurement is missing.
struct MachinePeaks {
  double copy_gb_per_s = 0;           ///< memcpy of arrays far larger than the last cache: bytes read + written
  double gather_gb_per_s = 0;         ///< random 256-byte rows summed from a table far larger than the last cache
  double gather_cached_gb_per_s = 0;  ///< the same from a table that fits the second-level cache
  double gflop_per_s = 0;             ///< fp32 fused multiply-adds, 2 operations each
};
MachinePeaks measure_peaks(int threads);

}  // namespace pantile
