#include <pantile/nn/checkpoint.h>

#include <pantile/io/safetensors.h>

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <map>

namespace pantile::nn {
namespace {

constexpr int64_t kFormat = 1;

using Metadata = std::map<std::string, std::string>;

/// Reads typed values out of the metadata; the first failure is kept and named.
struct Fields {
  const std::string& path;
  const Metadata& metadata;
  std::optional<Error> error;

  const std::string& text(const std::string& key) {
    static const std::string kNone;
    const auto at = metadata.find("pantile." + key);
    if (at != metadata.end()) return at->second;
    refuse(fmt::format("metadata 'pantile.{}' is missing: not a model that Pantile wrote", key));
    return kNone;
  }
  template <class N>
  void number(const std::string& key, N& out) {
    const std::string& value = text(key);
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), out);
    if (code != std::errc() || end != value.data() + value.size()) {
      refuse(fmt::format("metadata 'pantile.{}' is '{}', not a number in range", key, value));
    }
  }
  void boolean(const std::string& key, bool& out) {
    const std::string& value = text(key);
    out = value == "true";
    if (value != "true" && value != "false")
      refuse(fmt::format("metadata 'pantile.{}' is '{}', not true or false", key, value));
  }
  template <class E>
  void choice(const std::string& key, std::optional<E> (*from_name)(std::string_view), E& out) {
    const std::string& value = text(key);
    if (const auto found = from_name(value)) {
      out = *found;
    } else {
      refuse(fmt::format("metadata 'pantile.{}' is '{}', which this version does not know", key, value));
    }
  }
  void refuse(const std::string& what) {
    if (!error) error = Error{ErrorCode::corrupt, path + ": " + what};
  }
};

Metadata to_metadata(const CheckpointInfo& i) {
  const auto number = [](auto v) { return fmt::format("{}", v); };
  const auto boolean = [](bool v) { return std::string(v ? "true" : "false"); };
  return {{"pantile.format", number(kFormat)},
          {"pantile.version", i.version},
          {"pantile.model", name(i.model.kind)},
          {"pantile.hidden", number(i.model.hidden)},
          {"pantile.layers", number(i.model.layers)},
          {"pantile.heads", number(i.model.heads)},
          {"pantile.output_heads", number(i.model.output_heads)},
          {"pantile.dropout", number(i.model.dropout)},
          {"pantile.input_dropout", number(i.model.input_dropout)},
          {"pantile.attention_dropout", number(i.model.attention_dropout)},
          {"pantile.aggregation", name(i.model.aggregation)},
          {"pantile.epochs", number(i.training.epochs)},
          {"pantile.learning_rate", number(i.training.learning_rate)},
          {"pantile.weight_decay", number(i.training.weight_decay)},
          {"pantile.decay_first_layer_only", boolean(i.training.decay_first_layer_only)},
          {"pantile.patience", number(i.training.patience)},
          {"pantile.monitor", name(i.training.monitor)},
          {"pantile.dropout_seed", number(i.training.seed)},
          {"pantile.seed", number(i.seed)},
          {"pantile.features", number(i.features)},
          {"pantile.classes", number(i.classes)},
          {"pantile.nodes", number(i.nodes)},
          {"pantile.edges", number(i.edges)},
          {"pantile.dataset", i.dataset_name},
          {"pantile.dataset_fingerprint", i.dataset_fingerprint},
          {"pantile.normalisation", name(i.dataset_options.normalisation)},
          {"pantile.undirected", boolean(i.dataset_options.undirected)},
          {"pantile.sparse_share", number(i.dataset_options.sparse_share)},
          {"pantile.split_seed", number(i.dataset_options.split.seed)},
          {"pantile.split_train_per_class", number(i.dataset_options.split.train_per_class)},
          {"pantile.split_validation", number(i.dataset_options.split.validation)},
          {"pantile.split_test", number(i.dataset_options.split.test)},
          {"pantile.best_epoch", number(i.best_epoch)},
          {"pantile.validation_accuracy", number(i.validation_accuracy)},
          {"pantile.test_accuracy", number(i.test_accuracy)}};
}

Result<CheckpointInfo> from_metadata(const std::string& path, const Metadata& metadata) {
  Fields f{path, metadata, {}};
  int64_t format = 0;
  f.number("format", format);
  if (!f.error && format != kFormat) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: model format {}; this version reads {}", path, format, kFormat));
  }
  CheckpointInfo i;
  i.version = f.text("version");
  f.choice("model", model_from_name, i.model.kind);
  f.number("hidden", i.model.hidden);
  f.number("layers", i.model.layers);
  f.number("heads", i.model.heads);
  f.number("output_heads", i.model.output_heads);
  f.number("dropout", i.model.dropout);
  f.number("input_dropout", i.model.input_dropout);
  f.number("attention_dropout", i.model.attention_dropout);
  f.choice("aggregation", aggregation_from_name, i.model.aggregation);
  f.number("epochs", i.training.epochs);
  f.number("learning_rate", i.training.learning_rate);
  f.number("weight_decay", i.training.weight_decay);
  f.boolean("decay_first_layer_only", i.training.decay_first_layer_only);
  f.number("patience", i.training.patience);
  f.choice("monitor", monitor_from_name, i.training.monitor);
  f.number("dropout_seed", i.training.seed);
  f.number("seed", i.seed);
  f.number("features", i.features);
  f.number("classes", i.classes);
  f.number("nodes", i.nodes);
  f.number("edges", i.edges);
  i.dataset_name = f.text("dataset");
  i.dataset_fingerprint = f.text("dataset_fingerprint");
  f.choice("normalisation", normalisation_from_name, i.dataset_options.normalisation);
  f.boolean("undirected", i.dataset_options.undirected);
  f.number("sparse_share", i.dataset_options.sparse_share);
  f.number("split_seed", i.dataset_options.split.seed);
  f.number("split_train_per_class", i.dataset_options.split.train_per_class);
  f.number("split_validation", i.dataset_options.split.validation);
  f.number("split_test", i.dataset_options.split.test);
  f.number("best_epoch", i.best_epoch);
  f.number("validation_accuracy", i.validation_accuracy);
  f.number("test_accuracy", i.test_accuracy);
  if (f.error) return tl::unexpected<Error>(*f.error);
  return i;
}

}  // namespace

CheckpointInfo CheckpointInfo::of(const ModelConfig& model, const TrainConfig& training, uint64_t seed,
                                  const Dataset& d, const DatasetOptions& options, const TrainResult& result) {
  CheckpointInfo i;
  i.model = model;
  i.training = training;
  i.seed = seed;
  i.features = d.features.width;
  i.classes = d.classes;
  i.nodes = d.graph.rows();
  i.edges = d.graph.edges();
  i.dataset_name = d.name;
  i.dataset_fingerprint = d.fingerprint.hex();
  i.dataset_options = options;
  i.dataset_options.normalisation = d.normalisation;
  i.best_epoch = result.best_epoch;
  i.validation_accuracy = result.validation.accuracy;
  i.test_accuracy = result.test.accuracy;
  return i;
}

Status save_checkpoint(const std::string& path, Network<float>& network, const CheckpointInfo& info) {
  std::map<std::string, TensorView> tensors;
  for (const Parameter<float>* p : network.parameters()) tensors[p->name] = {p->value.data(), DType::f32, p->shape};
  return write_safetensors(path, tensors, to_metadata(info));
}

Result<CheckpointInfo> read_checkpoint_info(const std::string& path) {
  PANTILE_TRY(const SafeTensors file, read_safetensors(path));
  return from_metadata(path, file.metadata);
}

Status check_dataset(const CheckpointInfo& info, const Dataset& d) {
  if (info.dataset_fingerprint == d.fingerprint.hex()) return {};
  std::string differs = "its contents differ";
  if (info.features != d.features.width) {
    differs = fmt::format("it has {} features, the model takes {}", d.features.width, info.features);
  } else if (info.nodes != d.graph.rows() || info.edges != d.graph.edges()) {
    differs = fmt::format("it has {} nodes and {} edges, not {} and {}", d.graph.rows(), d.graph.edges(), info.nodes,
                          info.edges);
  } else if (info.classes != d.classes) {
    differs = fmt::format("it has {} classes, the model {}", d.classes, info.classes);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("the model was trained on dataset '{}' ({}), not on '{}' ({}): {}", info.dataset_name,
                          info.dataset_fingerprint, d.name, d.fingerprint.hex(), differs),
              {{"trained_on", info.dataset_fingerprint}, {"given", d.fingerprint.hex()}});
}

Status load_weights(const std::string& path, Network<float>& network) {
  PANTILE_TRY(const SafeTensors file, read_safetensors(path));
  size_t used = 0;
  for (Parameter<float>* p : network.parameters()) {
    const auto at = file.tensors.find(p->name);
    if (at == file.tensors.end()) {
      return fail(ErrorCode::corrupt, fmt::format("{}: tensor '{}' is missing", path, p->name));
    }
    const Tensor& t = at->second;
    if (t.shape != p->shape || t.dtype != DType::f32) {
      return fail(ErrorCode::corrupt, fmt::format("{}: tensor '{}' is {} {}, expected float32 {}", path, p->name,
                                                  name(t.dtype), shape_text(t.shape), shape_text(p->shape)));
    }
    ++used;
  }
  if (used != file.tensors.size()) {
    return fail(ErrorCode::corrupt,
                fmt::format("{}: {} tensors, of which the model uses {}", path, file.tensors.size(), used));
  }
  for (Parameter<float>* p : network.parameters()) {
    std::copy_n(file.tensors.find(p->name)->second.as<float>(), p->value.size(), p->value.data());
  }
  return {};
}

}  // namespace pantile::nn
