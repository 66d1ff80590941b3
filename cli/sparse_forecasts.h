#pragma once

#include <pantile/sparse/explain.h>
#include <vector>

#include "cli/verbs.h"

namespace pantile::cli {

/// Operators that forecasts exist for, in the order of the help text.
const std::vector<std::string>& forecast_ops();

/// One forecast for each operator and width, measured when asked for. Progress on stderr.
Result<std::vector<sparse::Forecast>> make_forecasts(const SparsePlanOptions& options, const GlobalOptions& global,
                                                     const sparse::Plan& plan, const MachinePeaks& peaks);
/// roofline_seconds / measured_seconds; NaN when either is missing.
double roofline_share(const sparse::Forecast& forecast);

}  // namespace pantile::cli
