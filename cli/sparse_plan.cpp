#include <pantile/sparse/explain.h>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/machine.h"
#include "cli/run_record.h"
#include "cli/sparse_forecasts.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

/// plan and explain differ in what they show people; the document is the same.
int run(const SparsePlanOptions& options, const GlobalOptions& global, bool sentences) {
  const auto file = load_graph(global, options.graph);
  if (!file) return print_error(global, file.error());
  const KnownPeaks known = machine_peaks(global, false);
  const sparse::Plan plan = sparse::Plan::of(file->graph);
  const Stopwatch watch;
  const auto forecasts = make_forecasts(options, global, plan, known.peaks);
  if (!forecasts) return print_error(global, forecasts.error());
  global.record->timing(options.measure ? "measure" : "forecast", watch.seconds());
  auto json = parse_json(sparse::to_json(plan, *forecasts), "plan");
  if (!json) return print_error(global, json.error());
  json->set("input", options.graph.path).set("peaks", to_value(known.peaks));
  global.record->plan(*json);
  if (sentences) return print_result(global, *json, sparse::explain(plan, *forecasts));

  Table table({"operator", "width", "bound", "predicted", "path"});
  if (options.measure) table = Table({"operator", "width", "bound", "predicted", "measured", "path"});
  for (const sparse::Forecast& f : *forecasts) {
    std::vector<std::string> row = {f.op, std::to_string(f.width), f.bound, as_seconds(f.predicted_seconds)};
    if (options.measure) row.push_back(as_seconds(f.measured_seconds));
    row.push_back(f.path);
    table.row(std::move(row));
  }
  return print_result(global, *json, table.text());
}

}  // namespace

int run_sparse_plan(const SparsePlanOptions& options, const GlobalOptions& global) {
  return run(options, global, false);
}

int run_sparse_explain(const SparsePlanOptions& options, const GlobalOptions& global) {
  return run(options, global, true);
}

}  // namespace pantile::cli
