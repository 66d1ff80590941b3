#include "cli/sparse_forecasts.h"

#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <limits>
#include <optional>

#include "cli/console.h"

namespace pantile::cli {

const std::vector<std::string>& forecast_ops() {
  static const std::vector<std::string> ops = {"spmm", "spmm_weighted", "sddmm", "gcn", "gat"};
  return ops;
}

Result<std::vector<sparse::Forecast>> make_forecasts(const SparsePlanOptions& options, const GlobalOptions& global,
                                                     const sparse::Plan& plan, const MachinePeaks& peaks) {
  const std::optional<DType> dtype = dtype_from_name(options.dtype);
  if (!dtype || !is_floating(*dtype)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--dtype {}: features are float32, float64, bfloat16 or float16", options.dtype));
  }
  const auto progress = make_cli_progress(global);
  if (options.measure) {
    progress->begin("measuring", static_cast<int64_t>(options.ops.size() * options.widths.size()), "operator");
  }
  std::vector<sparse::Forecast> forecasts;
  for (const std::string& op : options.ops) {
    for (const int64_t width : options.widths) {
      if (progress->cancelled()) return fail(ErrorCode::internal, "stopped by the user");
      sparse::Forecast f = sparse::forecast(plan, op, width, *dtype, peaks, num_threads());
      if (options.measure) {
        progress->note(fmt::format("{} at width {}", op, width));
        PANTILE_TRY(f, sparse::measure(plan, std::move(f), options.budget));
        progress->advance(1);
      }
      forecasts.push_back(std::move(f));
    }
  }
  if (options.measure) progress->end();
  return forecasts;
}

double roofline_share(const sparse::Forecast& forecast) {
  if (forecast.measured_seconds <= 0 || forecast.roofline_seconds <= 0) return std::numeric_limits<double>::quiet_NaN();
  return forecast.roofline_seconds / forecast.measured_seconds;
}

}  // namespace pantile::cli
