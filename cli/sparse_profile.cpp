#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <pantile/sparse/plan.h>
#include <algorithm>
#include <array>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/graph_facts.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

/// How the work of one direction is cut: what decides load balance.
struct Cut {
  int64_t units = 0, hubs = 0, segments = 0;
  int64_t largest = 0;   ///< cost of the largest unit
  int64_t total = 0;     ///< cost of all: edges + 2 * rows
  double imbalance = 1;  ///< cost of the busiest thread / mean, cutting between units
};

Cut cut_of(const sparse::Schedule& schedule, int threads) {
  Cut cut;
  cut.units = static_cast<int64_t>(schedule.units.size());
  cut.hubs = static_cast<int64_t>(schedule.hubs.size());
  cut.segments = schedule.slots;
  if (schedule.cost.empty()) return cut;
  cut.total = schedule.cost.back();
  for (size_t u = 0; u + 1 < schedule.cost.size(); ++u) {
    cut.largest = std::max(cut.largest, schedule.cost[u + 1] - schedule.cost[u]);
  }
  int64_t busiest = 0, begin = 0;
  for (int t = 1; t <= threads; ++t) {
    const auto at = std::lower_bound(schedule.cost.begin(), schedule.cost.end(),
                                     cut.total / threads * t + cut.total % threads * t / threads);
    const int64_t end = at == schedule.cost.end() ? cut.total : *at;
    busiest = std::max(busiest, end - begin);
    begin = end;
  }
  if (cut.total > 0) cut.imbalance = static_cast<double>(busiest) * threads / static_cast<double>(cut.total);
  return cut;
}

Value to_value(const Cut& cut) {
  return Value::object()
      .set("units", cut.units)
      .set("hubs", cut.hubs)
      .set("hub_segments", cut.segments)
      .set("largest_unit_cost", cut.largest)
      .set("total_cost", cut.total)
      .set("imbalance", cut.imbalance);
}

struct Bin {
  int64_t from = 0, to = 0, rows = 0, edges = 0;
};

/// Rows and edges by in-degree: 0, 1, 2-3, 4-7, 8-15, ...
std::vector<Bin> degree_bins(const Csr& csr) {
  std::array<Bin, 64> bins;
  for (int64_t row = 0; row < csr.rows; ++row) {
    const int64_t degree = csr.ptr[row + 1] - csr.ptr[row];
    size_t b = 0;
    while ((degree >> b) != 0) ++b;
    bins[b].rows += 1;
    bins[b].edges += degree;
  }
  std::vector<Bin> used;
  for (size_t b = 0; b < bins.size(); ++b) {
    if (bins[b].rows == 0) continue;
    bins[b].from = b == 0 ? 0 : int64_t{1} << (b - 1);
    bins[b].to = b == 0 ? 0 : (int64_t{1} << b) - 1;
    used.push_back(bins[b]);
  }
  return used;
}

std::string cut_text(const Cut& cut, int threads) {
  return fmt::format("{} units, {} hub rows in {} segments, busiest of {} threads {:.2f}x the mean",
                     with_spaces(cut.units), with_spaces(cut.hubs), with_spaces(cut.segments), threads, cut.imbalance);
}

}  // namespace

int run_sparse_profile(const SparsePlanOptions& options, const GlobalOptions& global) {
  const auto file = load_graph(global, options.graph);
  if (!file) return print_error(global, file.error());
  const Stopwatch watch;
  const sparse::Plan plan = sparse::Plan::of(file->graph);
  const int threads = num_threads();
  const Cut rows = cut_of(plan.schedule(sparse::Direction::by_row), threads);
  const Cut columns = cut_of(plan.schedule(sparse::Direction::by_column), threads);
  global.record->timing("plan", watch.seconds());
  const GraphProfile& profile = file->graph.profile();

  Value bins = Value::array();
  Table histogram({"  in-degree", "rows", "edges", "share of edges"});
  for (const Bin& bin : degree_bins(file->graph.csr())) {
    const double share = profile.edges == 0 ? 0 : static_cast<double>(bin.edges) / static_cast<double>(profile.edges);
    bins.add(Value::object().set("from", bin.from).set("to", bin.to).set("rows", bin.rows).set("edges", bin.edges));
    histogram.row({bin.from == bin.to ? fmt::format("  {}", bin.from) : fmt::format("  {}-{}", bin.from, bin.to),
                   with_spaces(bin.rows), with_spaces(bin.edges), as_percent(share)});
  }
  Table memory({"  features", "float32", "bfloat16"});
  Value footprints = Value::array();
  for (const int64_t width : options.widths) {
    const auto values = checked_multiply(profile.rows + profile.cols, width);
    if (!values || *values > INT64_MAX / 4) {
      return print_error(
          global, {ErrorCode::out_of_range, fmt::format("--width {}: features would not fit any memory", width)});
    }
    memory.row({fmt::format("  width {}", width), as_bytes(*values * 4), as_bytes(*values * 2)});
    footprints.add(
        Value::object().set("width", width).set("float32_bytes", *values * 4).set("bfloat16_bytes", *values * 2));
  }
  Table cuts;
  cuts.row({"  forward", cut_text(rows, threads)});
  cuts.row({"  backward", cut_text(columns, threads)});
  const Value json = Value::object()
                         .set("input", options.graph.path)
                         .set("fingerprint", file->graph.fingerprint().hex())
                         .set("profile", cli::to_value(profile))
                         .set("threads", threads)
                         .set("forward", to_value(rows))
                         .set("backward", to_value(columns))
                         .set("plan_seconds", watch.seconds())
                         .set("in_degrees", std::move(bins))
                         .set("feature_bytes", std::move(footprints));
  global.record->plan(json["forward"]);
  const std::string text =
      fmt::format("{}: {}, mean degree {:.2f}\n\n{}\n{}\n{}\n{}\n{}\n{}",
                  marked(global, Mark::heading, options.graph.path), size_text(file->graph), profile.mean_degree,
                  marked(global, Mark::heading, "Rows"), histogram.text(), marked(global, Mark::heading, "Work"),
                  cuts.text(true), marked(global, Mark::heading, "Memory of input and output features"), memory.text());
  return print_result(global, json, text);
}

}  // namespace pantile::cli
