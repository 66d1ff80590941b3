#include <fmt/format.h>

#include <pantile/graph/coalesce.h>
#include <pantile/graph/read.h>
#include <pantile/io/file.h>
#include <optional>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/graph_facts.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

Coalesce coalesce_named(const std::string& name) {
  if (name == "mean") return Coalesce::mean;
  if (name == "min") return Coalesce::min;
  if (name == "max") return Coalesce::max;
  if (name == "first") return Coalesce::first;
  return Coalesce::sum;
}

}  // namespace

int run_graph_convert(const GraphConvertOptions& options, const GlobalOptions& global) {
  if (const auto ok = announce_output(global, options.out); !ok) return print_error(global, ok.error());
  auto file = load_graph(global, options.graph);
  if (!file) return print_error(global, file.error());
  const int64_t edges_before = file->graph.edges();
  if (!options.coalesce.empty()) {
    auto merged = coalesce(file->graph, file->weights.span(), coalesce_named(options.coalesce));
    if (!merged) return print_error(global, merged.error());
    // Without weights in the file, multiplicities are wanted only where the user asks for their sum.
    const bool keep = !file->weights.empty() || (options.coalesce == "sum" && merged->graph.edges() != edges_before);
    file->graph = merged->graph;
    file->weights = keep ? std::move(merged->weights) : Array<float>();
  }
  Value json = Value::object()
                   .set("input", options.graph.path)
                   .set("output", options.out)
                   .set("written", !global.dry_run)
                   .set("weighted", !file->weights.empty())
                   .set("merged_edges", edges_before - file->graph.edges())
                   .set("graph", size_value(file->graph));
  std::string text = fmt::format("{} -> {}: {}{}", options.graph.path, options.out, size_text(file->graph),
                                 file->weights.empty() ? "" : ", weighted");
  if (edges_before != file->graph.edges()) {
    text += fmt::format(", {} parallel edges merged", with_spaces(edges_before - file->graph.edges()));
  }
  if (global.dry_run) return print_result(global, json, "would write " + text);
  const Stopwatch watch;
  const auto written = write_graph(options.out, file->graph, file->weights.span(), options.to);
  if (!written) return print_error(global, written.error());
  global.record->timing("write", watch.seconds());
  const auto bytes = file_size(options.out);
  json.set("bytes", bytes ? Value(*bytes) : Value());
  return print_result(global, json, text + (bytes ? ", " + as_bytes(*bytes) : ""));
}

}  // namespace pantile::cli
