#include <fmt/format.h>

#include <pantile/graph/read.h>
#include <pantile/graph/reorder.h>
#include <pantile/io/npy.h>
#include <cmath>
#include <optional>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/graph_facts.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

struct Order {
  std::string name;
  Reordering how;
};
const std::vector<Order> kOrders = {{"degree", Reordering::degree},
                                    {"bfs", Reordering::bfs},
                                    {"rcm", Reordering::rcm},
                                    {"community", Reordering::community}};

struct Candidate {
  Order order;
  Reordered result;
  ReorderForecast forecast;
};

Result<Candidate> try_order(const Graph& graph, const Order& order) {
  const Stopwatch watch;
  PANTILE_TRY(Reordered result, reorder(graph, order.how));
  const double seconds = watch.seconds();
  PANTILE_TRY(ReorderForecast forecast, forecast_reorder(graph, result, seconds));
  return Candidate{order, std::move(result), forecast};
}

std::string payback_text(const ReorderForecast& f) {
  return std::isfinite(f.pays_after_calls) ? fmt::format("{:.0f} calls", std::ceil(f.pays_after_calls)) : "never";
}

Value to_value(const Candidate& candidate) {
  const ReorderForecast& f = candidate.forecast;
  return Value::object()
      .set("order", candidate.order.name)
      .set("distinct_per_8_rows_before", f.distinct_before)
      .set("distinct_per_8_rows_after", f.distinct_after)
      .set("distinct_per_unit_before", f.unit_distinct_before)
      .set("distinct_per_unit_after", f.unit_distinct_after)
      .set("predicted_speedup", f.predicted_speedup)
      .set("reorder_seconds", f.reorder_seconds)
      .set("pays_after_calls", f.pays_after_calls);
}

/// The candidate with the largest predicted gain among those that earn their cost back within `calls`; none is an
/// answer too.
const Candidate* best_within(const std::vector<Candidate>& candidates, int64_t calls) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.forecast.pays_after_calls > static_cast<double>(calls)) continue;
    if (best == nullptr || candidate.forecast.predicted_speedup > best->forecast.predicted_speedup) best = &candidate;
  }
  return best;
}

/// Weights follow their edges: edge_id of the new graph names positions in the old one.
Result<Array<float>> moved_weights(const GraphFile& file, const Graph& graph) {
  if (file.weights.empty()) return Array<float>();
  PANTILE_TRY(Array<float> weights, Array<float>::allocate(graph.edges()));
  const auto ids = graph.edge_id();
  for (int64_t k = 0; k < graph.edges(); ++k) {
    weights[k] = file.weights[ids.empty() ? k : ids[static_cast<size_t>(k)]];
  }
  return weights;
}

Status write_results(const GraphReorderOptions& options, const GlobalOptions& global, const GraphFile& file,
                     const Candidate* chosen) {
  const Stopwatch watch;
  if (!options.out.empty()) {
    const Graph& graph = chosen == nullptr ? file.graph : chosen->result.graph;
    Array<float> moved;
    if (chosen != nullptr) {
      PANTILE_TRY(moved, moved_weights(file, graph));
    }
    PANTILE_CHECK(
        write_graph(options.out, graph, chosen == nullptr ? file.weights.span() : std::as_const(moved).span()));
  }
  if (!options.permutation.empty()) {
    std::vector<int64_t> identity;
    if (chosen == nullptr) {
      identity.resize(static_cast<size_t>(file.graph.rows()));
      for (size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<int64_t>(i);
    }
    const std::vector<int64_t>& map = chosen == nullptr ? identity : chosen->result.new_of_old;
    PANTILE_CHECK(write_npy(options.permutation, {map.data(), DType::i64, {static_cast<int64_t>(map.size())}}));
  }
  global.record->timing("write", watch.seconds());
  return {};
}

}  // namespace

int run_graph_reorder(const GraphReorderOptions& options, const GlobalOptions& global) {
  for (const std::string& path : {options.out, options.permutation}) {
    if (path.empty()) continue;
    if (const auto ok = announce_output(global, path); !ok) return print_error(global, ok.error());
  }
  const auto file = load_graph(global, options.graph);
  if (!file) return print_error(global, file.error());
  std::vector<Candidate> candidates;
  for (const Order& order : kOrders) {
    if (options.how != "auto" && options.how != order.name) continue;
    auto candidate = try_order(file->graph, order);
    if (!candidate) return print_error(global, candidate.error());
    global.record->timing("reorder " + order.name, candidate->forecast.reorder_seconds);
    candidates.push_back(std::move(*candidate));
  }
  const Candidate* chosen = options.how == "auto" ? best_within(candidates, options.calls) : &candidates.front();
  const std::string chosen_name = chosen == nullptr ? "none" : chosen->order.name;
  global.record->result("chosen order", options.how == "auto" ? "auto" : chosen_name);

  Value tried = Value::array();
  Table table({"order", "distinct columns/edge", "per 512-edge unit", "predicted speed-up", "cost", "pays after"});
  for (const Candidate& candidate : candidates) {
    const ReorderForecast& f = candidate.forecast;
    tried.add(to_value(candidate));
    table.row({candidate.order.name, fmt::format("{:.3f} -> {:.3f}", f.distinct_before, f.distinct_after),
               fmt::format("{:.3f} -> {:.3f}", f.unit_distinct_before, f.unit_distinct_after),
               fmt::format("{:.2f}x", f.predicted_speedup), as_seconds(f.reorder_seconds), payback_text(f)});
  }
  std::string verdict;
  if (chosen == nullptr) {
    verdict = fmt::format("no order is predicted to pay within {} SpMM calls: the graph stays as it is",
                          with_spaces(options.calls));
  } else if (std::isfinite(chosen->forecast.pays_after_calls)) {
    verdict = fmt::format("{}: pays after {} of SpMM at width 64", chosen_name, payback_text(chosen->forecast));
  } else {
    verdict = fmt::format("{}: not predicted to pay on this CPU", chosen_name);
  }
  std::string text = table.text() + "\n" + marked(global, Mark::heading, verdict) + "\n";
  const bool writes = !options.out.empty() || !options.permutation.empty();
  if (writes && !global.dry_run) {
    if (const auto written = write_results(options, global, *file, chosen); !written)
      return print_error(global, written.error());
  }
  for (const std::string& path : {options.out, options.permutation}) {
    if (!path.empty()) text += fmt::format("{} {}\n", global.dry_run ? "would write" : "wrote", path);
  }
  const Value json = Value::object()
                         .set("input", options.graph.path)
                         .set("tried", std::move(tried))
                         .set("chosen", chosen == nullptr ? Value() : Value(chosen_name))
                         .set("verdict", verdict)
                         .set("output", options.out.empty() ? Value() : Value(options.out))
                         .set("permutation", options.permutation.empty() ? Value() : Value(options.permutation))
                         .set("written", writes && !global.dry_run);
  return print_result(global, json, text);
}

}  // namespace pantile::cli
