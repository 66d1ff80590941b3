#include <pantile/core/cpu.h>
#include <pantile/core/hash.h>

#include <atomic>

#include "bindings.h"

namespace pantile::python {

namespace {
std::atomic<bool> threads_fixed{false};  // set by pantile.set_num_threads, after which torch's number no longer counts
std::atomic<int> threads_adopted{0};
}  // namespace

void adopt_threads(int threads) {
  if (threads <= 0 || threads_fixed.load(std::memory_order_relaxed)) return;
  if (threads_adopted.exchange(threads, std::memory_order_relaxed) != threads) set_num_threads(threads);
}

void bind_core(nb::module_& m) {
  m.def("num_threads", [] { return num_threads(); });
  m.def("set_num_threads", [](int n) {
    threads_fixed = n > 0;
    threads_adopted = 0;
    set_num_threads(n);
  });
  m.def("borrow_openmp_threads", [] { return borrow_openmp_threads(); });
  m.def("advise_huge_pages",
        [](uintptr_t address, size_t bytes) { advise_huge_pages(reinterpret_cast<void*>(address), bytes); });
  m.def("cpu_info", [] {
    const CpuInfo info = cpu_info();
    nb::dict d;
    d["model"] = info.model;
    d["features"] = info.features;
    d["simd_target"] = info.simd_target;
    d["logical_cpus"] = info.logical_cpus;
    d["l1d_bytes"] = info.l1d_bytes;
    d["l2_bytes"] = info.l2_bytes;
    d["l3_bytes"] = info.l3_bytes;
    return d;
  });
  m.def("hash_bytes", [](uintptr_t address, size_t bytes) {
    nb::gil_scoped_release release;
    return hash_bytes(reinterpret_cast<const void*>(address), bytes).hex();
  });
  m.def("measure_peaks", [](int threads) {
    MachinePeaks peaks;
    {
      nb::gil_scoped_release release;
      peaks = measure_peaks(threads > 0 ? threads : num_threads());
    }
    nb::dict d;
    d["copy_gb_per_s"] = peaks.copy_gb_per_s;
    d["gather_gb_per_s"] = peaks.gather_gb_per_s;
    d["gather_cached_gb_per_s"] = peaks.gather_cached_gb_per_s;
    d["gflop_per_s"] = peaks.gflop_per_s;
    return d;
  });
}

}  // namespace pantile::python
