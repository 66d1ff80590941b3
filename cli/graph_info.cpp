#include <fmt/format.h>

#include <pantile/io/file.h>
#include <filesystem>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/graph_facts.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

std::string share_of(int64_t part, int64_t whole) {
  return whole == 0 ? with_spaces(part)
                    : fmt::format("{} ({})", with_spaces(part),
                                  as_percent(static_cast<double>(part) / static_cast<double>(whole)));
}

void add_profile(const GraphProfile& p, Table& table) {
  if (p.rows == p.cols) {
    table.row({"  nodes", with_spaces(p.rows)});
  } else {
    table.row({"  destinations", with_spaces(p.rows)});
    table.row({"  sources", with_spaces(p.cols)});
  }
  table.row({"  edges", with_spaces(p.edges)});
  table.row({"  in-degree", fmt::format("mean {:.2f}, median {}, 99th percentile {}, max {}, variation {:.2f}",
                                        p.mean_degree, p.median_degree, p.p99_degree, p.max_degree, p.degree_cv)});
  table.row({"  out-degree", fmt::format("max {}", p.max_out_degree)});
  table.row({"  no in-edges", share_of(p.empty_rows, p.rows)});
  table.row({"  no out-edges", share_of(p.empty_cols, p.cols)});
  table.row({"  self-loops", share_of(p.self_loops, p.edges)});
  table.row({"  duplicates", share_of(p.duplicates, p.edges)});
  if (p.rows == p.cols) table.row({"  symmetric", p.symmetric ? "yes" : "no"});
  table.row({"  locality", fmt::format("mean column gap {:.1f}, {:.2f} distinct columns an edge in windows of 8 rows",
                                       p.mean_column_gap, p.distinct_per_8_rows)});
  table.row({"  in memory", as_bytes(p.bytes)});
}

}  // namespace

int run_graph_info(const GraphInfoOptions& options, const GlobalOptions& global) {
  const Stopwatch watch;
  const auto file = load_graph(global, options.graph);
  if (!file) return print_error(global, file.error());
  const double read_seconds = watch.seconds();
  const GraphProfile& profile = file->graph.profile();
  const std::string fingerprint = file->graph.fingerprint().hex();
  const auto bytes = file_size(options.graph.path);

  Value source = Value::object()
                     .set("path", options.graph.path)
                     .set("bytes", bytes ? Value(*bytes) : Value())
                     .set("weighted", !file->weights.empty())
                     .set("read_seconds", read_seconds);
  const Value json =
      Value::object().set("file", std::move(source)).set("fingerprint", fingerprint).set("profile", to_value(profile));
  Table table;
  table.row({"  file", fmt::format("{}, read in {}", bytes ? as_bytes(*bytes) : "a folder", as_seconds(read_seconds))});
  table.row({"  weights", file->weights.empty() ? "none" : "one an edge"});
  add_profile(profile, table);
  table.row({"  fingerprint", fingerprint});
  const std::string text = marked(global, Mark::heading, options.graph.path) + "\n" + table.text(true);
  return print_result(global, json, text);
}

}  // namespace pantile::cli
