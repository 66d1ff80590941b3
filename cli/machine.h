#pragma once

#include <pantile/core/cpu.h>
#include <string>
#include <vector>

#include "cli/value.h"
#include "cli/verbs.h"

namespace pantile::cli {

/// The machine as manifests and `doctor` describe it.
struct MachineFacts {
  CpuInfo cpu;
  int threads = 0;                ///< that parallel work will use
  std::string threads_from;       ///< what decided that number
  std::string simd_reason;        ///< one sentence: why this SIMD target
  std::string huge_pages;         ///< transparent huge pages: "always", "madvise", "never" or "unknown"
  int64_t memory_bytes = -1;      ///< installed, or the limit of the container
  int64_t memory_available = -1;  ///< usable now
  std::string system;             ///< "Linux 6.1.0 x86_64"
};
MachineFacts machine_facts(const GlobalOptions& global);
Value to_value(const MachineFacts& facts);

/// Peaks of this machine at this number of threads: from ~/.cache/pantile (or XDG_CACHE_HOME) when measured before on
/// the same model, else measured now (about a second) and kept there. `fresh` measures in any case. --dry-run keeps
/// nothing.
struct KnownPeaks {
  MachinePeaks peaks;
  bool measured_now = false;
};
KnownPeaks machine_peaks(const GlobalOptions& global, bool fresh);
Value to_value(const MachinePeaks& peaks);

/// "0.1.0", and what it was built with.
Value build_facts();

}  // namespace pantile::cli
