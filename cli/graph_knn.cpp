#include <fmt/format.h>

#include <pantile/graph/generate.h>
#include <pantile/graph/read.h>
#include <pantile/io/npy.h>
#include <algorithm>
#include <map>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/graph_facts.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

/// The first rows of the file as fp32, scaled.
struct Features {
  Array<float> values;
  int64_t rows = 0, cols = 0;
};

int64_t rows_to_take(int64_t rows, int64_t limit) { return limit < 0 ? rows : std::min(rows, limit); }

Result<Features> read_features(const GraphKnnOptions& options) {
  PANTILE_TRY(const Tensor tensor, read_npy(options.features));
  if (tensor.shape.size() < 2) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: shape {}; features need one row a node: [nodes, ...]",
                                                         options.features, shape_text(tensor.shape)));
  }
  Features features;
  features.rows = rows_to_take(tensor.shape[0], options.limit);
  features.cols = tensor.shape[0] == 0 ? 0 : tensor.size() / tensor.shape[0];
  TensorView head = tensor.view();
  head.shape[0] = features.rows;
  PANTILE_TRY(features.values, to_float32(head, options.features));
  if (options.scale != 1) {
    for (float& v : features.values) v *= static_cast<float>(options.scale);
  }
  return features;
}

Result<Array<int64_t>> read_labels(const GraphKnnOptions& options, int64_t rows) {
  PANTILE_TRY(const Tensor tensor, read_npy(options.labels));
  if (tensor.shape.size() != 1 || tensor.shape[0] < rows) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: shape {}; labels need one number for each of the {} rows of {}", options.labels,
                            shape_text(tensor.shape), rows, options.features));
  }
  TensorView head = tensor.view();
  head.shape[0] = rows;
  return to_int64(head, options.labels);
}

/// The form in which every face of Pantile takes a data set: edge_index [2, E], x [N, F], y [N].
Status write_dataset(const std::string& path, const Graph& graph, const Features& features,
                     const Array<int64_t>& labels) {
  PANTILE_TRY(Tensor edge_index, Tensor::allocate(DType::i64, {2, graph.edges()}));
  int64_t* src = edge_index.as<int64_t>();
  int64_t* dst = src + graph.edges();
  const Csr csr = graph.csr();
  for (int64_t row = 0; row < csr.rows; ++row) {
    for (int64_t k = csr.ptr[row]; k < csr.ptr[row + 1]; ++k) {
      src[k] = csr.col[k];
      dst[k] = row;
    }
  }
  std::map<std::string, TensorView> arrays;
  arrays["edge_index"] = edge_index.view();
  arrays["x"] = {features.values.data(), DType::f32, {features.rows, features.cols}};
  if (!labels.empty()) arrays["y"] = {labels.data(), DType::i64, {labels.size()}};
  return write_npz(path, arrays);
}

struct Neighbours {
  Graph graph;
  int64_t rows = 0, cols = 0;
};

Result<Neighbours> make_neighbours(const GraphKnnOptions& options, const GlobalOptions& global) {
  Stopwatch watch;
  announce_input(global, options.features);
  PANTILE_TRY(const Features features, read_features(options));
  Array<int64_t> labels;
  if (!options.labels.empty()) {
    announce_input(global, options.labels);
    PANTILE_TRY(labels, read_labels(options, features.rows));
  }
  global.record->timing("read", watch.seconds());
  Neighbours made;
  made.rows = features.rows;
  made.cols = features.cols;
  if (global.dry_run) return made;
  watch = Stopwatch();
  const auto progress = make_cli_progress(global);
  const Metric metric = options.metric == "euclidean" ? Metric::euclidean : Metric::cosine;
  const ConstMatrix x = matrix_of(features.values.data(), features.rows, features.cols);
  PANTILE_TRY(made.graph,
              nearest_neighbours(x, static_cast<int>(options.k), metric, !options.directed, progress.get()));
  global.record->timing("neighbours", watch.seconds());
  global.record->result("graph", made.graph.fingerprint().hex());
  watch = Stopwatch();
  if (options.dataset || !options.labels.empty()) {
    PANTILE_CHECK(write_dataset(options.out, made.graph, features, labels));
  } else {
    PANTILE_CHECK(write_graph(options.out, made.graph, {}));
  }
  global.record->timing("write", watch.seconds());
  return made;
}

}  // namespace

int run_graph_knn(const GraphKnnOptions& options, const GlobalOptions& global) {
  const bool dataset = options.dataset || !options.labels.empty();
  if (dataset && !options.out.ends_with(".npz")) {
    return print_error(global, {ErrorCode::invalid_argument,
                                fmt::format("{}: a data set (--dataset, --labels) is written as .npz", options.out)});
  }
  if (const auto ok = announce_output(global, options.out); !ok) return print_error(global, ok.error());
  const auto made = make_neighbours(options, global);
  if (!made) return print_error(global, made.error());
  Value json = Value::object()
                   .set("features", options.features)
                   .set("nodes", made->rows)
                   .set("width", made->cols)
                   .set("k", options.k)
                   .set("metric", options.metric)
                   .set("symmetric", !options.directed)
                   .set("output", options.out)
                   .set("dataset", dataset)
                   .set("written", !global.dry_run);
  if (global.dry_run) {
    return print_result(global, json,
                        fmt::format("would write {}: the {} nearest neighbours of {} rows of {} values", options.out,
                                    options.k, with_spaces(made->rows), made->cols));
  }
  json.set("graph", size_value(made->graph));
  return print_result(global, json,
                      fmt::format("wrote {}: {}, from the {} nearest neighbours ({}) of each row", options.out,
                                  size_text(made->graph), options.k, options.metric));
}

}  // namespace pantile::cli
