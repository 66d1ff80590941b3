#include "cli/training_facts.h"

#include <fmt/format.h>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"

namespace pantile::cli {

Result<nn::Dataset> load_training_data(const GlobalOptions& global, const std::string& path,
                                       const nn::DatasetOptions& options) {
  announce_input(global, path);
  const Stopwatch watch;
  PANTILE_TRY(nn::Dataset data, nn::load_dataset(path, options));
  global.record->timing("read", watch.seconds());
  global.record->result("dataset", data.fingerprint.hex());
  return data;
}

Value to_value(const nn::Dataset& d) {
  return Value::object()
      .set("name", d.name)
      .set("path", d.path)
      .set("nodes", d.graph.rows())
      .set("edges", d.graph.edges())
      .set("features", d.features.width)
      .set("feature_storage", d.features.pattern ? "compressed" : "dense")
      .set("classes", d.classes)
      .set("normalisation", nn::name(d.normalisation))
      .set("undirected", d.undirected)
      .set("fingerprint", d.fingerprint.hex())
      .set("split", Value::object()
                        .set("origin", d.split.origin)
                        .set("train", static_cast<int64_t>(d.split.train.size()))
                        .set("validation", static_cast<int64_t>(d.split.validation.size()))
                        .set("test", static_cast<int64_t>(d.split.test.size())));
}

std::string dataset_text(const nn::Dataset& d) {
  std::string storage;
  if (d.features.pattern) {
    const double all = static_cast<double>(d.features.rows) * static_cast<double>(d.features.width);
    storage =
        fmt::format(" ({} not zero, kept compressed)", as_percent(static_cast<double>(d.features.stored()) / all));
  }
  return fmt::format(
      "{}: {} nodes, {} edges, {} features{}, {} classes\nsplit: {} ({} train, {} validation, {} test); features {}\n",
      d.name, with_spaces(d.graph.rows()), with_spaces(d.graph.edges()), with_spaces(d.features.width), storage,
      d.classes, d.split.origin, with_spaces(static_cast<int64_t>(d.split.train.size())),
      with_spaces(static_cast<int64_t>(d.split.validation.size())),
      with_spaces(static_cast<int64_t>(d.split.test.size())),
      d.normalisation == nn::Normalisation::rows ? "row-normalised" : "as given");
}

Value to_value(const nn::NodeScore& s) {
  return Value::object().set("accuracy", s.accuracy).set("loss", s.loss).set("nodes", s.nodes);
}

Value to_value(const nn::ModelConfig& c) {
  Value v = Value::object()
                .set("name", nn::name(c.kind))
                .set("hidden", c.hidden)
                .set("layers", c.layers)
                .set("heads", c.heads)
                .set("output_heads", c.output_heads)
                .set("dropout", c.dropout)
                .set("input_dropout", c.input_dropout)
                .set("attention_dropout", c.attention_dropout);
  if (c.kind == nn::ModelKind::sage) v.set("aggregation", nn::name(c.aggregation));
  return v;
}

std::string accuracy_text(double accuracy) { return fmt::format("{:.2f} %", 100 * accuracy); }

}  // namespace pantile::cli
