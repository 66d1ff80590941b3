#include <fmt/format.h>

#include <pantile/graph/generate.h>
#include <pantile/graph/read.h>
#include <pantile/io/file.h>
#include <pantile/io/npy.h>
#include <limits>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/graph_facts.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

/// Options come as 64-bit numbers; what the generators take as int must not wrap on the way.
Result<int> as_int(int64_t v, const char* option) {
  if (v < std::numeric_limits<int>::min() || v > std::numeric_limits<int>::max()) {
    return fail(ErrorCode::out_of_range, fmt::format("{} {}: at most {}", option, v, std::numeric_limits<int>::max()));
  }
  return static_cast<int>(v);
}

struct Generated {
  Graph graph;
  std::vector<int64_t> labels;  ///< [nodes] of an SBM, else empty
  uint64_t seed = 0;
};

Result<Generated> generate_rmat_graph(const GraphGenerateOptions& o, const GlobalOptions& global) {
  RmatOptions r;
  PANTILE_TRY(r.scale, as_int(o.scale, "--scale"));
  PANTILE_TRY(r.edge_factor, as_int(o.edge_factor, "--edge-factor"));
  r.simple = !o.keep_duplicates;
  r.seed = global.seed_or(r.seed);
  PANTILE_TRY(Graph graph, generate_rmat(r));
  return Generated{std::move(graph), {}, r.seed};
}

Result<Generated> generate_community_graph(const GraphGenerateOptions& o, const GlobalOptions& global) {
  CommunityOptions c;
  c.nodes = o.nodes;
  PANTILE_TRY(c.degree, as_int(o.degree, "--degree"));
  PANTILE_TRY(c.community, as_int(o.community, "--community"));
  c.inside = o.inside;
  c.scramble = !o.ordered;
  c.simple = !o.keep_duplicates;
  c.seed = global.seed_or(c.seed);
  PANTILE_TRY(Graph graph, generate_community(c));
  return Generated{std::move(graph), {}, c.seed};
}

Result<Generated> generate_sbm_graph(const GraphGenerateOptions& o, const GlobalOptions& global) {
  SbmOptions s;
  s.nodes = o.nodes;
  PANTILE_TRY(s.blocks, as_int(o.blocks, "--blocks"));
  s.degree_in = o.degree_in;
  s.degree_out = o.degree_out;
  s.seed = global.seed_or(s.seed);
  PANTILE_TRY(Sbm sbm, generate_sbm(s));
  return Generated{std::move(sbm.graph), std::move(sbm.labels), s.seed};
}

Result<Generated> generate_grid_graph(const GraphGenerateOptions& o) {
  PANTILE_TRY(const int neighbours, as_int(o.neighbours, "--neighbours"));
  PANTILE_TRY(Graph graph, generate_grid(o.width, o.height, neighbours));
  return Generated{std::move(graph), {}, 0};
}

Result<Generated> generate(const GraphGenerateOptions& o, const GlobalOptions& global) {
  if (o.kind == "rmat") return generate_rmat_graph(o, global);
  if (o.kind == "community") return generate_community_graph(o, global);
  if (o.kind == "sbm") return generate_sbm_graph(o, global);
  return generate_grid_graph(o);
}

}  // namespace

int run_graph_generate(const GraphGenerateOptions& options, const GlobalOptions& global) {
  for (const std::string& path : {options.out, options.labels}) {
    if (path.empty()) continue;
    if (const auto ok = announce_output(global, path); !ok) return print_error(global, ok.error());
  }
  if (!options.labels.empty() && options.kind != "sbm") {
    return print_error(global, {ErrorCode::invalid_argument, "--labels: only sbm has labels, its blocks"});
  }
  const Stopwatch watch;
  auto made = generate(options, global);
  if (!made) return print_error(global, made.error());
  global.record->timing("generate", watch.seconds());
  global.record->seed(made->seed);
  global.record->result("graph", made->graph.fingerprint().hex());
  if (!global.dry_run) {
    const Stopwatch write_watch;
    auto written = write_graph(options.out, made->graph, {});
    if (written && !options.labels.empty()) {
      written =
          write_npy(options.labels, {made->labels.data(), DType::i64, {static_cast<int64_t>(made->labels.size())}});
    }
    if (!written) return print_error(global, written.error());
    global.record->timing("write", write_watch.seconds());
  }
  const Value json = Value::object()
                         .set("kind", options.kind)
                         .set("seed", options.kind == "grid" ? Value() : Value(made->seed))
                         .set("output", options.out)
                         .set("labels", options.labels.empty() ? Value() : Value(options.labels))
                         .set("written", !global.dry_run)
                         .set("graph", size_value(made->graph));
  const std::string seed = options.kind == "grid" ? "" : fmt::format(" (seed {})", made->seed);
  return print_result(global, json,
                      fmt::format("{} {}: {}{}, {}", global.dry_run ? "would write" : "wrote", options.out,
                                  options.kind, seed, size_text(made->graph)));
}

}  // namespace pantile::cli
