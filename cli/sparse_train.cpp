#include "cli/sparse_train.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <pantile/nn/checkpoint.h>
#include <cmath>
#include <vector>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"
#include "cli/training_facts.h"

namespace pantile::cli {
namespace {

struct Settings {
  nn::ModelConfig model;
  nn::TrainConfig training;
  nn::DatasetOptions data;
};

/// The value that `text` names, or an error that lists the names.
template <class E>
Result<E> named(const char* option, const std::string& text, std::optional<E> (*from_name)(std::string_view),
                const char* allowed) {
  if (const auto found = from_name(text)) return *found;
  return fail(ErrorCode::invalid_argument, fmt::format("{} '{}': one of {} is allowed", option, text, allowed));
}

Result<Settings> settings_of(const SparseTrainOptions& o) {
  PANTILE_TRY(const auto kind,
              named("--model", o.model, nn::model_from_name, "gcn, sage, gin, gat, gatv2, agnn, transformer, mlp"));
  Settings s{nn::default_model(kind), nn::default_training(kind), {}};
  s.model.hidden = o.hidden.value_or(s.model.hidden);
  s.model.layers = o.layers.value_or(s.model.layers);
  s.model.heads = o.heads.value_or(s.model.heads);
  s.model.output_heads = o.output_heads.value_or(s.model.output_heads);
  // One --dropout speaks for the features too, and for attention where the model's default has attention dropout.
  if (o.dropout) {
    s.model.dropout = s.model.input_dropout = *o.dropout;
    if (s.model.attention_dropout > 0) s.model.attention_dropout = *o.dropout;
  }
  s.model.input_dropout = o.input_dropout.value_or(s.model.input_dropout);
  s.model.attention_dropout = o.attention_dropout.value_or(s.model.attention_dropout);
  PANTILE_TRY(s.model.aggregation, named("--aggregation", o.aggregation, nn::aggregation_from_name, "mean, max, sum"));
  s.training.epochs = o.epochs.value_or(s.training.epochs);
  s.training.patience = o.patience.value_or(s.training.patience);
  s.training.learning_rate = o.learning_rate.value_or(s.training.learning_rate);
  s.training.weight_decay = o.weight_decay.value_or(s.training.weight_decay);
  PANTILE_TRY(s.training.monitor, named("--monitor", o.monitor, nn::monitor_from_name, "accuracy, loss"));
  PANTILE_TRY(s.data.normalisation,
              named("--normalise", o.normalise, nn::normalisation_from_name, "automatic, rows, none"));
  s.data.undirected = o.undirected;
  s.data.split = {o.train_per_class, o.validation_nodes, o.test_nodes, o.split_seed};
  if (o.seeds < 1 || o.seeds > 10000) {
    return fail(ErrorCode::invalid_argument, fmt::format("--seeds {}: 1 to 10000 are allowed", o.seeds));
  }
  for (const int64_t count : {o.train_per_class, o.validation_nodes, o.test_nodes}) {
    if (count < 0)
      return fail(ErrorCode::invalid_argument, fmt::format("a split of {} nodes: 0 or more are allowed", count));
  }
  return s;
}

struct Run {
  uint64_t seed = 0;
  nn::TrainResult result;
};

struct Spread {
  double mean = 0, deviation = 0;
};
/// Sample standard deviation; 0 for one run.
template <class Get>
Spread spread(const std::vector<Run>& runs, Get get) {
  Spread s;
  const double n = static_cast<double>(runs.size());
  for (const Run& r : runs) s.mean += get(r) / n;
  for (const Run& r : runs) s.deviation += (get(r) - s.mean) * (get(r) - s.mean);
  s.deviation = runs.size() < 2 ? 0 : std::sqrt(s.deviation / (n - 1));
  return s;
}

Value spread_value(const Spread& s) {
  return Value::object().set("mean", s.mean).set("standard_deviation", s.deviation);
}

Value run_value(const Run& run) {
  const nn::TrainResult& r = run.result;
  return Value::object()
      .set("seed", run.seed)
      .set("epochs", static_cast<int64_t>(r.history.size()))
      .set("best_epoch", r.best_epoch)
      .set("stopped_early", r.stopped_early)
      .set("train", to_value(r.train))
      .set("validation", to_value(r.validation))
      .set("test", to_value(r.test))
      .set("seconds", r.seconds)
      .set("seconds_per_epoch", r.seconds_per_epoch);
}

double test_accuracy(const Run& r) { return r.result.test.accuracy; }
double validation_accuracy(const Run& r) { return r.result.validation.accuracy; }
double epoch_seconds(const Run& r) { return r.result.seconds_per_epoch; }

std::string runs_text(const std::vector<Run>& runs) {
  Table table({"seed", "best epoch", "of", "train", "validation", "test", "per epoch"});
  for (const Run& run : runs) {
    const nn::TrainResult& r = run.result;
    table.row({fmt::format("{}", run.seed), fmt::format("{}", r.best_epoch), fmt::format("{}", r.history.size()),
               accuracy_text(r.train.accuracy), accuracy_text(r.validation.accuracy), accuracy_text(r.test.accuracy),
               as_seconds(r.seconds_per_epoch)});
  }
  std::string text = table.text();
  if (runs.size() > 1) {
    const Spread test = spread(runs, test_accuracy);
    text += fmt::format("test accuracy over {} seeds: {} +- {} (standard deviation)\n", runs.size(),
                        accuracy_text(test.mean), accuracy_text(test.deviation));
  }
  return text;
}

/// The plan of the run: what --dry-run shows and the manifest keeps.
Value plan_value(const Settings& s, const nn::Dataset& data, int64_t parameters, const nn::MemoryEstimate& memory) {
  return Value::object()
      .set("dataset", to_value(data))
      .set("model", to_value(s.model).set("parameters", parameters))
      .set("training", Value::object()
                           .set("epochs", s.training.epochs)
                           .set("learning_rate", s.training.learning_rate)
                           .set("weight_decay", s.training.weight_decay)
                           .set("decay_first_layer_only", s.training.decay_first_layer_only)
                           .set("patience", s.training.patience)
                           .set("monitor", nn::name(s.training.monitor)))
      .set("memory_bytes", memory.total());
}

class Training {
 public:
  Training(const SparseTrainOptions& options, const GlobalOptions& global, Settings settings, nn::Dataset data,
           nn::Topology topology)
      : options_(options),
        global_(global),
        settings_(std::move(settings)),
        data_(std::move(data)),
        topology_(std::move(topology)) {}

  Result<int> run() {
    const uint64_t first = global_.seed_or(0);
    global_.record->seed(first);
    PANTILE_TRY(auto network, network_of(first));
    PANTILE_TRY(const auto memory, nn::estimate_memory(settings_.model, data_.shape()));
    Value json = plan_value(settings_, data_, network.parameter_count(), memory);
    global_.record->plan(json);
    const std::string head =
        dataset_text(data_) + fmt::format("{}, {} parameters, about {} of memory:\n{}", nn::name(settings_.model.kind),
                                          with_spaces(network.parameter_count()), as_bytes(memory.total()),
                                          network.describe());
    if (global_.dry_run) return print_result(global_, json, head);
    const Stopwatch watch;
    const auto progress = make_cli_progress(global_);
    std::vector<Run> runs;
    bool cancelled = false;
    for (int64_t s = 0; s < options_.seeds && !cancelled; ++s) {
      const uint64_t seed = first + static_cast<uint64_t>(s);
      if (s > 0) {
        PANTILE_TRY(network, network_of(seed));
      }
      settings_.training.seed = seed;
      PANTILE_TRY(nn::TrainResult result, nn::train(network, data_, settings_.training, progress.get()));
      cancelled = result.cancelled;
      PANTILE_CHECK(keep_best(network, seed, result));
      runs.push_back({seed, std::move(result)});
    }
    global_.record->timing("train", watch.seconds());
    return report(std::move(json), head, runs, cancelled);
  }

 private:
  Result<nn::Network<float>> network_of(uint64_t seed) const {
    return nn::Network<float>::make(settings_.model, topology_, data_.shape(), seed);
  }

  Status keep_best(nn::Network<float>& network, uint64_t seed, const nn::TrainResult& result) {
    if (options_.out.empty() || result.validation.accuracy <= best_validation_) return {};
    best_validation_ = result.validation.accuracy;
    auto info = nn::CheckpointInfo::of(settings_.model, settings_.training, seed, data_, settings_.data, result);
    info.version = PANTILE_VERSION;
    return nn::save_checkpoint(options_.out, network, info);
  }

  int report(Value json, const std::string& head, const std::vector<Run>& runs, bool cancelled) const {
    Value list = Value::array();
    for (const Run& run : runs) list.add(run_value(run));
    json.set("runs", std::move(list))
        .set("test_accuracy", spread_value(spread(runs, test_accuracy)))
        .set("validation_accuracy", spread_value(spread(runs, validation_accuracy)))
        .set("seconds_per_epoch", spread_value(spread(runs, epoch_seconds)))
        .set("cancelled", cancelled)
        .set("model_file", options_.out.empty() ? Value() : Value(options_.out));
    global_.record->result("test_accuracy", fmt::format("{}", spread(runs, test_accuracy).mean));
    std::string text = head + "\n" + runs_text(runs);
    if (cancelled) text += "stopped on request; the best weights so far were kept\n";
    if (!options_.out.empty()) text += fmt::format("model: {}\n", options_.out);
    return print_result(global_, json, text);
  }

  const SparseTrainOptions& options_;
  const GlobalOptions& global_;
  Settings settings_;
  nn::Dataset data_;
  nn::Topology topology_;
  double best_validation_ = -1;
};

Result<int> train(const SparseTrainOptions& options, const GlobalOptions& global) {
  PANTILE_TRY(Settings settings, settings_of(options));
  if (!options.out.empty()) PANTILE_CHECK(announce_output(global, options.out));
  PANTILE_TRY(nn::Dataset data, load_training_data(global, options.data, settings.data));
  // The control uses no edges, so their weights do not matter to it.
  PANTILE_TRY(nn::Topology topology, nn::Topology::of(data.graph, data.edge_weights));
  return Training(options, global, std::move(settings), std::move(data), std::move(topology)).run();
}

}  // namespace

int run_sparse_train(const SparseTrainOptions& options, const GlobalOptions& global) {
  const auto code = train(options, global);
  return code ? *code : print_error(global, code.error());
}

}  // namespace pantile::cli
