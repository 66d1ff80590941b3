#include <fmt/format.h>

#include "cli/console.h"
#include "cli/libraries.h"
#include "cli/machine.h"
#include "cli/run_record.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string machine_text(const GlobalOptions& global, const MachineFacts& facts) {
  Table table;
  table.row({"  cpu", facts.cpu.model});
  table.row({"  features", joined(facts.cpu.features)});
  table.row({"  kernels", fmt::format("{}: {}", marked(global, Mark::good, facts.cpu.simd_target), facts.simd_reason)});
  table.row({"  threads", fmt::format("{} of {} ({})", facts.threads, facts.cpu.logical_cpus, facts.threads_from)});
  table.row({"  caches", fmt::format("L1 {}, L2 {}, L3 {}", as_bytes(facts.cpu.l1d_bytes), as_bytes(facts.cpu.l2_bytes),
                                     as_bytes(facts.cpu.l3_bytes))});
  table.row({"  memory", fmt::format("{}, of which {} can be used now", as_bytes(facts.memory_bytes),
                                     facts.memory_available < 0 ? "?" : as_bytes(facts.memory_available))});
  const bool huge = facts.huge_pages == "always" || facts.huge_pages == "madvise";
  table.row({"  huge pages", huge ? facts.huge_pages + ": large arrays use them"
                                  : facts.huge_pages + ": large outputs pay for page faults; as root: echo madvise > "
                                                       "/sys/kernel/mm/transparent_hugepage/enabled"});
  table.row({"  system", facts.system});
  return marked(global, Mark::heading, "Machine") + "\n" + table.text(true);
}

std::string peaks_text(const GlobalOptions& global, const MachinePeaks& peaks, int threads) {
  Table table;
  table.row({"  copy", fmt::format("{:.1f} GB/s", peaks.copy_gb_per_s), "read and written, beyond the caches"});
  table.row({"  random gather", fmt::format("{:.1f} GB/s", peaks.gather_gb_per_s), "256-byte rows out of memory"});
  table.row({"  cached gather", fmt::format("{:.1f} GB/s", peaks.gather_cached_gb_per_s),
             "256-byte rows out of the L2 cache"});
  table.row({"  arithmetic", fmt::format("{:.1f} GFLOP/s", peaks.gflop_per_s), "fp32 multiply-adds"});
  return fmt::format("{} ({} thread{}, measured now)\n{}", marked(global, Mark::heading, "Peaks"), threads,
                     threads == 1 ? "" : "s", table.text(true));
}

std::string libraries_text(const GlobalOptions& global, const std::vector<Library>& libraries) {
  Table table;
  for (const Library& library : libraries) {
    if (library.found) {
      table.row({"  " + library.name, marked(global, Mark::good, "found"), library.version, library.where});
    } else {
      table.row({"  " + library.name, marked(global, Mark::warning, "missing"), "",
                 fmt::format("{} ({})", library.install, library.purpose)});
    }
  }
  return marked(global, Mark::heading, "Libraries") + " (all optional)\n" + table.text(true);
}

Value to_value(const std::vector<Library>& libraries) {
  Value all = Value::array();
  for (const Library& library : libraries) {
    all.add(Value::object()
                .set("name", library.name)
                .set("purpose", library.purpose)
                .set("found", library.found)
                .set("version", library.version.empty() ? Value() : Value(library.version))
                .set("where", library.where.empty() ? Value() : Value(library.where))
                .set("install", library.install));
  }
  return all;
}

}  // namespace

int run_doctor(const DoctorOptions& options, const GlobalOptions& global) {
  const MachineFacts facts = machine_facts(global);
  const std::vector<Library> libraries = find_libraries();
  Value json = Value::object().set("versions", build_facts()).set("machine", cli::to_value(facts));
  std::string text = fmt::format("pantile {} ({}, {})\n\n", PANTILE_VERSION, PANTILE_COMPILER, PANTILE_BUILD_TYPE) +
                     machine_text(global, facts) + "\n";
  if (options.measure) {
    const MachinePeaks peaks = machine_peaks(global, true).peaks;
    json.set("peaks", cli::to_value(peaks));
    text += peaks_text(global, peaks, facts.threads) + "\n";
  }
  json.set("libraries", to_value(libraries));
  text += libraries_text(global, libraries);
  return print_result(global, json, text);
}

}  // namespace pantile::cli
