#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <pantile/graph/generate.h>
#include <pantile/sparse/explain.h>
#include <cmath>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/graph_facts.h"
#include "cli/machine.h"
#include "cli/run_record.h"
#include "cli/sparse_forecasts.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

struct NamedGraph {
  std::string name;
  Graph graph;
};

Result<std::vector<NamedGraph>> graphs_of(const BenchSparseOptions& options, const GlobalOptions& global) {
  std::vector<NamedGraph> graphs;
  for (const GraphSource& source : options.graphs) {
    PANTILE_TRY(GraphFile file, load_graph(global, source));
    graphs.push_back({source.path, std::move(file.graph)});
  }
  if (!graphs.empty()) return graphs;
  // A power law and a clustered graph: the two shapes that gathers find hardest and easiest.
  RmatOptions rmat;
  rmat.scale = 15;
  rmat.seed = global.seed_or(rmat.seed);
  CommunityOptions community;
  community.nodes = 32768;
  community.scramble = false;
  community.seed = global.seed_or(community.seed);
  PANTILE_TRY(Graph power_law, generate_rmat(rmat));
  PANTILE_TRY(Graph clustered, generate_community(community));
  graphs.push_back({"R-MAT, 2^15 nodes", std::move(power_law)});
  graphs.push_back({"communities of 64, 2^15 nodes", std::move(clustered)});
  return graphs;
}

double rate(const sparse::Forecast& f) {
  return f.measured_seconds > 0 ? static_cast<double>(f.bytes) / f.measured_seconds / 1e9 : std::nan("");
}

Value to_value(const sparse::Forecast& f) {
  return Value::object()
      .set("op", f.op)
      .set("width", f.width)
      .set("dtype", name(f.dtype))
      .set("bytes", f.bytes)
      .set("bound", f.bound)
      .set("path", f.path)
      .set("measured_seconds", f.measured_seconds)
      .set("predicted_seconds", f.predicted_seconds)
      .set("roofline_seconds", f.roofline_seconds < 0 ? Value() : Value(f.roofline_seconds))
      .set("gb_per_s", rate(f))
      .set("roofline_share", roofline_share(f));
}

std::string table_text(const std::vector<sparse::Forecast>& forecasts, const MachinePeaks& peaks) {
  Table table({"  operator", "width", "time", "GB/s", "of copy", "of gather roofline", "measured/predicted"});
  for (const sparse::Forecast& f : forecasts) {
    table.row({"  " + f.op, std::to_string(f.width), as_seconds(f.measured_seconds), fmt::format("{:.1f}", rate(f)),
               as_percent(rate(f) / peaks.copy_gb_per_s), as_percent(roofline_share(f)),
               f.predicted_seconds > 0 ? fmt::format("{:.2f}", f.measured_seconds / f.predicted_seconds) : "-"});
  }
  return table.text();
}

}  // namespace

int run_bench_sparse(const BenchSparseOptions& options, const GlobalOptions& global) {
  const auto graphs = graphs_of(options, global);
  if (!graphs) return print_error(global, graphs.error());
  const MachinePeaks peaks = machine_peaks(global, true).peaks;
  SparsePlanOptions work;
  work.ops = options.ops;
  work.widths = options.widths;
  work.dtype = options.dtype;
  work.budget = options.budget;
  work.measure = true;

  Value results = Value::array();
  std::string text =
      fmt::format("{} thread{}, {}; peaks: copy {:.1f} GB/s, random gather {:.1f} GB/s, cached gather {:.1f} GB/s\n",
                  num_threads(), num_threads() == 1 ? "" : "s", options.dtype, peaks.copy_gb_per_s,
                  peaks.gather_gb_per_s, peaks.gather_cached_gb_per_s);
  for (const NamedGraph& named : *graphs) {
    print_note(global, fmt::format("{}: {}", named.name, size_text(named.graph)));
    const auto forecasts = make_forecasts(work, global, sparse::Plan::of(named.graph), peaks);
    if (!forecasts) return print_error(global, forecasts.error().within(named.name));
    Value rows = Value::array();
    for (const sparse::Forecast& f : *forecasts) rows.add(to_value(f));
    results.add(Value::object()
                    .set("name", named.name)
                    .set("graph", size_value(named.graph))
                    .set("operators", std::move(rows)));
    text += fmt::format("\n{}: {}\n{}", marked(global, Mark::heading, named.name), size_text(named.graph),
                        table_text(*forecasts, peaks));
  }
  text +=
      "\nThe roofline is the time to gather and add the same rows and do nothing else, measured in this run.\n"
      "Against torch, scipy, torch-geometric and dgl: ./dev bench sparse (in the source tree).\n";
  const Value json = Value::object()
                         .set("threads", num_threads())
                         .set("dtype", options.dtype)
                         .set("machine", cli::to_value(machine_facts(global)))
                         .set("peaks", cli::to_value(peaks))
                         .set("graphs", std::move(results));
  return print_result(global, json, text);
}

}  // namespace pantile::cli
