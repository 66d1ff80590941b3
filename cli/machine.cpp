#include "cli/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <pantile/core/buffer.h>
#include <pantile/core/hash.h>
#include <pantile/core/thread_pool.h>
#include <pantile/io/file.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/console.h"
#include "cli/json.h"

namespace pantile::cli {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// "always [madvise] never" -> "madvise"
std::string bracketed(const std::string& text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']', open);
  return open == std::string::npos || close == std::string::npos ? "unknown" : text.substr(open + 1, close - open - 1);
}

int64_t installed_memory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::istringstream limit(first_line("/sys/fs/cgroup/memory.max"));
  int64_t container = 0;
  if (limit >> container && container > 0) bytes = std::min(bytes, container);
  return bytes;
}

std::string threads_source(const GlobalOptions& global) {
  if (global.threads > 0) return "--threads";
  const int n = num_threads();
  for (const char* variable : {"PANTILE_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* text = std::getenv(variable);
    if (text != nullptr && std::atoi(text) == n) return variable;
  }
  return "the CPUs this process may run on";
}

std::string why_this_target(const CpuInfo& cpu) {
  const auto has = [&](const char* feature) {
    return std::find(cpu.features.begin(), cpu.features.end(), feature) != cpu.features.end();
  };
  const std::string& target = cpu.simd_target;
  if (target.starts_with("AVX3")) return "the CPU has AVX-512: 16 fp32 values an instruction";
  if (target == "AVX2") {
    return has("avx512f") ? "the widest that the CPU offers completely: AVX-512 is there in part only"
                          : "the widest that the CPU offers: 8 fp32 values an instruction, with FMA; it has no AVX-512";
  }
  if (target.starts_with("SSE") || target == "SSSE3") return "the CPU offers no AVX2: 4 fp32 values an instruction";
  if (target.starts_with("NEON")) return "the vector unit of 64-bit ARM: 4 fp32 values an instruction";
  return "no vector unit that the kernels know: portable scalar code";
}

std::string cache_file(const CpuInfo& cpu, int threads) {
  std::string folder;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') {
    folder = xdg;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    folder = std::string(home) + "/.cache";
  } else {
    return "";
  }
  const std::string key = fmt::format("{}/{}/{}/{}", cpu.model, cpu.simd_target, threads, PANTILE_VERSION);
  return fmt::format("{}/pantile/peaks-{}.json", folder, hash_bytes(key.data(), key.size()).hex().substr(0, 16));
}

bool read_peaks(const std::string& path, MachinePeaks* peaks) {
  if (path.empty() || !file_exists(path)) return false;
  const auto text = read_text(path, 1 << 16);
  if (!text) return false;
  const auto json = parse_json(*text, path);
  if (!json) return false;
  *peaks = {(*json)["copy_gb_per_s"].number(), (*json)["gather_gb_per_s"].number(),
            (*json)["gather_cached_gb_per_s"].number(), (*json)["gflop_per_s"].number()};
  return peaks->copy_gb_per_s > 0 && peaks->gather_gb_per_s > 0 && peaks->gather_cached_gb_per_s > 0 &&
         peaks->gflop_per_s > 0;
}

}  // namespace

MachineFacts machine_facts(const GlobalOptions& global) {
  MachineFacts facts;
  facts.cpu = cpu_info();
  facts.threads = num_threads();
  facts.threads_from = threads_source(global);
  facts.simd_reason = why_this_target(facts.cpu);
  facts.huge_pages = bracketed(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  facts.memory_bytes = installed_memory();
  facts.memory_available = available_memory_bytes();
  utsname system = {};
  if (uname(&system) == 0) facts.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  return facts;
}

Value to_value(const MachineFacts& facts) {
  Value features = Value::array();
  for (const std::string& feature : facts.cpu.features) features.add(feature);
  return Value::object()
      .set("cpu", facts.cpu.model)
      .set("features", std::move(features))
      .set("simd_target", facts.cpu.simd_target)
      .set("simd_reason", facts.simd_reason)
      .set("logical_cpus", facts.cpu.logical_cpus)
      .set("threads", facts.threads)
      .set("threads_from", facts.threads_from)
      .set("l1d_bytes", facts.cpu.l1d_bytes)
      .set("l2_bytes", facts.cpu.l2_bytes)
      .set("l3_bytes", facts.cpu.l3_bytes)
      .set("huge_pages", facts.huge_pages)
      .set("memory_bytes", facts.memory_bytes)
      .set("memory_available_bytes", facts.memory_available)
      .set("system", facts.system);
}

Value to_value(const MachinePeaks& peaks) {
  return Value::object()
      .set("copy_gb_per_s", peaks.copy_gb_per_s)
      .set("gather_gb_per_s", peaks.gather_gb_per_s)
      .set("gather_cached_gb_per_s", peaks.gather_cached_gb_per_s)
      .set("gflop_per_s", peaks.gflop_per_s);
}

KnownPeaks machine_peaks(const GlobalOptions& global, bool fresh) {
  const int threads = num_threads();
  const CpuInfo cpu = cpu_info();
  const std::string path = cache_file(cpu, threads);
  KnownPeaks known;
  if (!fresh && read_peaks(path, &known.peaks)) return known;
  print_note(global,
             fmt::format("measuring the peaks of this machine with {} thread{} ...", threads, threads == 1 ? "" : "s"));
  known.peaks = measure_peaks(threads);
  known.measured_now = true;
  if (!path.empty() && !global.dry_run) {
    // Only a cache: a home that cannot be written costs a second next time, nothing else.
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    Value json = to_value(known.peaks);
    json.set("cpu", cpu.model).set("threads", threads);
    static_cast<void>(write_text(path, to_json_text(json) + "\n"));
  }
  return known;
}

Value build_facts() {
  return Value::object()
      .set("pantile", PANTILE_VERSION)
      .set("compiler", PANTILE_COMPILER)
      .set("build", PANTILE_BUILD_TYPE);
}

}  // namespace pantile::cli
