#pragma once

#include <pantile/core/cpu.h>
#include <pantile/core/dtype.h>
#include <pantile/core/error.h>
#include <pantile/sparse/plan.h>
#include <string>
#include <vector>

namespace pantile::sparse {

/// What the cost model says of one operator at one width, and, once measured, how it came out.
struct Forecast {
  std::string op;  ///< "spmm", "sddmm", "gcn", "gat", ...
  int64_t width = 64;
  DType dtype = DType::f32;
  int64_t bytes = 0;   ///< features gathered + indices + weights + output
  std::string bound;   ///< "cache gather", "memory gather", "row ends"
  std::string path;    ///< chosen kernel path, such as "AVX2 panels 8x1, prefetch 16"
  std::string reason;  ///< one sentence
  double predicted_seconds = 0;
  double measured_seconds = -1;  ///< -1: not measured
  double roofline_seconds = -1;  ///< the gather roofline of this run: same indices, loads and adds only
};

/// Pure: no kernels run. Peaks come from measure_peaks or a cache of it.
Forecast forecast(const Plan& plan, const std::string& op, int64_t width, DType dtype, const MachinePeaks& peaks,
                  int threads);
/// Runs the operator on random features and fills measured_seconds and roofline_seconds (minimum over repetitions
/// within `budget_seconds`).
Result<Forecast> measure(const Plan& plan, Forecast f, double budget_seconds);

/// Plan and forecasts as JSON, and as text for people.
std::string to_json(const Plan& plan, const std::vector<Forecast>& forecasts);
std::string explain(const Plan& plan, const std::vector<Forecast>& forecasts);

}  // namespace pantile::sparse
