#include "core/kernels/peaks.h"

#include <sched.h>
#include <unistd.h>

#include <pantile/core/buffer.h>
#include <pantile/core/cpu.h>
#include <pantile/core/random.h>
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace pantile {
namespace {

/// The value of the first "key : value" line of /proc/cpuinfo.
std::string cpuinfo_value(const std::string& key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const size_t from = line.find_first_not_of(" \t", colon + 1);
    return from == std::string::npos ? "" : line.substr(from);
  }
  return "";
}

std::vector<std::string> interesting_features() {
  constexpr const char* kInteresting[] = {"sse4_2",  "avx",      "f16c",       "fma",         "avx2",
                                          "avx512f", "avx512bw", "avx512vnni", "avx512_bf16", "amx_bf16",
                                          "asimd",   "asimdhp",  "sve",        "sve2",        "bf16"};
  std::istringstream words(cpuinfo_value("flags") + " " + cpuinfo_value("Features"));
  std::vector<std::string> found;
  for (std::string word; words >> word;) {
    const bool wanted =
        std::any_of(std::begin(kInteresting), std::end(kInteresting), [&](const char* k) { return word == k; });
    if (wanted && std::find(found.begin(), found.end(), word) == found.end()) found.push_back(word);
  }
  return found;
}

std::string word_of(const std::string& path) {
  std::ifstream in(path);
  std::string word;
  in >> word;
  return word;
}

/// Bytes of a cache level of the first CPU that holds data; 0 when the system does not say.
int64_t cache_bytes(const std::string& level) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    if (word_of(folder + "level") != level || word_of(folder + "type") == "Instruction") continue;
    std::istringstream in(word_of(folder + "size"));
    int64_t number = 0;
    char unit = ' ';
    if (!(in >> number)) return 0;
    in >> unit;
    return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : number;
  }
  const long number = sysconf(level == "1"   ? _SC_LEVEL1_DCACHE_SIZE
                              : level == "2" ? _SC_LEVEL2_CACHE_SIZE
                                             : _SC_LEVEL3_CACHE_SIZE);
  return number > 0 ? number : 0;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Best time of body(thread) run on `threads` threads that start together, over repetitions for about `budget` seconds.
template <class Body>
double best_seconds(int threads, double budget, const Body& body) {
  // Threads of its own: the number asked for may differ from the pool's, whose size belongs to the caller.
  double best = 1e30;
  bool more = true;
  std::chrono::steady_clock::time_point start;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::barrier go(threads, [&]() noexcept { start = std::chrono::steady_clock::now(); });
  std::barrier done(threads, [&]() noexcept {
    best = std::min(best, seconds_since(start));
    more = seconds_since(begin) < budget;
  });
  const auto work = [&](int t) {
    do {
      go.arrive_and_wait();
      body(t);
      done.arrive_and_wait();
    } while (more);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& t : others) t.join();
  return best;
}

double measure_gather(int threads, int64_t table_bytes, int64_t gathers) {
  constexpr int64_t kRowBytes = 256;
  const int64_t rows = std::max<int64_t>(table_bytes / kRowBytes, 1);
  auto table = Array<float>::allocate(rows * (kRowBytes / 4));
  auto index = Array<int32_t>::allocate(gathers * threads);
  if (!table || !index) return 0;
  std::memset(table->data(), 0, static_cast<size_t>(rows * kRowBytes));
  Random random(1);
  for (int32_t& i : *index) i = static_cast<int32_t>(random.below(static_cast<uint64_t>(rows)));
  std::vector<float> out(static_cast<size_t>(threads) * 64);
  const double seconds = best_seconds(threads, 0.25, [&](int t) {
    kernels::sum_rows(table->data(), index->data() + t * gathers, gathers, out.data() + t * 64);
  });
  return static_cast<double>(gathers * threads * kRowBytes) / seconds * 1e-9;
}

double measure_copy(int threads, int64_t bytes) {
  auto from = Buffer::allocate(static_cast<size_t>(bytes)), to = Buffer::allocate(static_cast<size_t>(bytes));
  if (!from || !to) return 0;
  std::memset(from->data(), 1, from->bytes());
  std::memset(to->data(), 2, to->bytes());
  const int64_t part = bytes / threads;
  const double seconds = best_seconds(threads, 0.25, [&](int t) {
    std::memcpy(to->as<char>() + t * part, from->as<char>() + t * part, static_cast<size_t>(part));
  });
  return 2.0 * static_cast<double>(part * threads) / seconds * 1e-9;
}

double measure_multiply_adds(int threads) {
  std::vector<float> sink(static_cast<size_t>(threads) * 16);
  int64_t operations = 0;
  const double seconds = best_seconds(threads, 0.15, [&](int t) {
    const int64_t n = kernels::multiply_add_rounds(1'000'000, &sink[static_cast<size_t>(t) * 16]);
    if (t == 0) operations = n;
  });
  return static_cast<double>(operations) * threads / seconds * 1e-9;
}

}  // namespace

CpuInfo cpu_info() {
  CpuInfo info;
  info.model = cpuinfo_value("model name");
  if (info.model.empty()) info.model = "unknown";
  info.features = interesting_features();
  info.simd_target = kernels::chosen_simd_target();
  cpu_set_t set;
  info.logical_cpus = sched_getaffinity(0, sizeof set, &set) == 0
                          ? CPU_COUNT(&set)
                          : static_cast<int>(std::thread::hardware_concurrency());
  info.l1d_bytes = cache_bytes("1");
  info.l2_bytes = cache_bytes("2");
  info.l3_bytes = cache_bytes("3");
  return info;
}

MachinePeaks measure_peaks(int threads) {
  threads = std::clamp(threads, 1, 1024);
  const int64_t last_cache = std::max<int64_t>(cache_bytes("3"), 8 << 20),
                l2 = std::max<int64_t>(cache_bytes("2"), 256 << 10);
  int64_t large = std::clamp<int64_t>(4 * last_cache, int64_t{128} << 20, int64_t{1} << 30);
  const int64_t available = available_memory_bytes();
  if (available > 0) large = std::max<int64_t>(std::min(large, available / 4), 1 << 20);
  MachinePeaks peaks;
  peaks.gflop_per_s = measure_multiply_adds(threads);
  peaks.copy_gb_per_s = measure_copy(threads, large);
  peaks.gather_gb_per_s = measure_gather(threads, large, 400'000);
  peaks.gather_cached_gb_per_s = measure_gather(threads, l2 / 2, 100'000);
  return peaks;
}

}  // namespace pantile
