#include <fmt/format.h>

#include <pantile/sparse/explain.h>
#include <algorithm>
#include <cmath>

#include "sparse/kernels/spmm.h"
#include "sparse/schedule.h"

namespace pantile::sparse {
namespace {

/// What one operator adds to the gather of its features. Rough on purpose: measured times stand beside them in
/// explain().
struct OperatorCost {
  const char* op;
  double gathers;     ///< rows of features read per edge
  double edge_bytes;  ///< weights, logits or results per edge beside the index
  double edge_ns;     ///< arithmetic per edge that no load hides
};
constexpr OperatorCost kOperators[] = {
    {"spmm", 1, 0, 0.3}, {"gcn", 1, 4, 0.3}, {"sddmm", 1, 4, 2.0}, {"gat", 1, 4, 4.0}, {"spmm_weighted", 1, 4, 0.3},
};
constexpr double kRowEndNs = 6;    ///< a mispredicted branch and the start of the next row
constexpr double kVectorNs = 0.3;  ///< one accumulator started and stored

OperatorCost cost_of(const std::string& op) {
  for (const OperatorCost& c : kOperators)
    if (op == c.op) return c;
  return {"", 1, 0, 1.0};
}

/// Bytes that the gathers of nearby rows move within: a mesh whose neighbours lie close stays in cache however large it
/// is.
double working_set(const GraphProfile& p, double row_bytes) {
  const double window = 64 * std::max(1.0, p.mean_column_gap);
  return std::min(static_cast<double>(p.cols), window) * row_bytes;
}

/// Gather bandwidth at this working set: the cached peak inside L2, the memory peak from four times L3 on, in between
/// by log.
double gather_rate(double bytes, const CpuInfo& cpu, const MachinePeaks& peaks) {
  const double cached = std::max(peaks.gather_cached_gb_per_s, 1e-3), memory = std::max(peaks.gather_gb_per_s, 1e-3);
  const double small = static_cast<double>(std::max<int64_t>(cpu.l2_bytes, 1 << 18)),
               large = 4 * static_cast<double>(std::max<int64_t>(cpu.l3_bytes, 1 << 22));
  const double t = std::clamp(std::log(bytes / small) / std::log(large / small), 0.0, 1.0);
  return std::exp((1 - t) * std::log(cached) + t * std::log(memory));
}

std::string path_of(const Plan& plan, const CpuInfo& cpu, int64_t width, DType dtype) {
  const int64_t vector_bytes = cpu.simd_target.starts_with("AVX3") ? 64 : cpu.simd_target == "AVX2" ? 32 : 16;
  const int64_t lanes = vector_bytes / static_cast<int64_t>(size_of(accumulator_of(dtype)));
  const int64_t vectors = (width + lanes - 1) / lanes, panels = (vectors + 7) / 8;
  int64_t by_degree = 0, units = 0;
  for (const Unit& u : plan.schedule(Direction::by_row).units) {
    if (u.slot >= 0) continue;
    ++units;
    by_degree += sorted_by_degree(u) ? 1 : 0;
  }
  std::string path =
      fmt::format("{} panels {}x{}, prefetch {}", cpu.simd_target, panels == 0 ? 0 : (vectors + panels - 1) / panels,
                  panels, prefetch_distance(width, dtype));
  if (by_degree > 0) path += fmt::format(", {} of {} units by degree", by_degree, units);
  return path;
}

}  // namespace

Forecast forecast(const Plan& plan, const std::string& op, int64_t width, DType dtype, const MachinePeaks& peaks,
                  int threads) {
  const GraphProfile& p = plan.graph().profile();
  const CpuInfo cpu = cpu_info();
  const OperatorCost cost = cost_of(op);
  const double size = static_cast<double>(size_of(dtype)), row_bytes = static_cast<double>(width) * size;
  const double edges = static_cast<double>(p.edges), rows = static_cast<double>(p.rows), share = std::max(1, threads);

  Forecast f;
  f.op = op;
  f.width = width;
  f.dtype = dtype;
  const double gathered = edges * cost.gathers * row_bytes,
               streamed = edges * (4 + cost.edge_bytes) + rows * (row_bytes + 8);
  f.bytes = static_cast<int64_t>(gathered + streamed);
  const double set = working_set(p, row_bytes), rate = gather_rate(set, cpu, peaks);
  const double vectors = std::ceil(row_bytes / 32);
  const double gather = gathered / (rate * 1e9), stream = streamed / (std::max(peaks.copy_gb_per_s, 1e-3) * 1e9);
  const double ends = rows * (kRowEndNs + kVectorNs * vectors) * 1e-9 / share + edges * cost.edge_ns * 1e-9 / share;
  f.predicted_seconds = gather + stream + ends;
  f.path = path_of(plan, cpu, width, dtype);
  if (ends > gather) {
    f.bound = "row ends";
    f.reason = fmt::format("{:.1f} edges a row leave too little arithmetic between two row ends to hide their cost",
                           p.mean_degree);
  } else if (set <= static_cast<double>(cpu.l3_bytes)) {
    f.bound = "cache gather";
    f.reason = fmt::format("the features that nearby rows gather ({:.1f} MB) stay in cache", set / 1e6);
  } else {
    f.bound = "memory gather";
    f.reason = fmt::format("the features that nearby rows gather ({:.1f} MB) exceed the last cache ({:.1f} MB)",
                           set / 1e6, static_cast<double>(cpu.l3_bytes) / 1e6);
  }
  return f;
}

}  // namespace pantile::sparse
