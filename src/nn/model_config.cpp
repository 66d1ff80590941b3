#include <pantile/nn/network.h>
#include <pantile/nn/trainer.h>

namespace pantile::nn {

const char* name(ModelKind kind) {
  switch (kind) {
    case ModelKind::gcn:
      return "gcn";
    case ModelKind::sage:
      return "sage";
    case ModelKind::gin:
      return "gin";
    case ModelKind::gat:
      return "gat";
    case ModelKind::gatv2:
      return "gatv2";
    case ModelKind::agnn:
      return "agnn";
    case ModelKind::transformer:
      return "transformer";
    case ModelKind::mlp:
      return "mlp";
  }
  return "";
}

std::optional<ModelKind> model_from_name(std::string_view text) {
  for (const ModelKind kind : kModelKinds) {
    if (text == name(kind)) return kind;
  }
  return std::nullopt;
}

const char* name(Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::mean:
      return "mean";
    case Aggregation::max:
      return "max";
    case Aggregation::sum:
      return "sum";
  }
  return "";
}

std::optional<Aggregation> aggregation_from_name(std::string_view text) {
  for (const Aggregation a : {Aggregation::mean, Aggregation::max, Aggregation::sum}) {
    if (text == name(a)) return a;
  }
  return std::nullopt;
}

const char* name(Monitor m) { return m == Monitor::accuracy ? "accuracy" : "loss"; }

std::optional<Monitor> monitor_from_name(std::string_view text) {
  for (const Monitor m : {Monitor::accuracy, Monitor::loss}) {
    if (text == name(m)) return m;
  }
  return std::nullopt;
}

ModelConfig default_model(ModelKind kind) {
  ModelConfig c;
  c.kind = kind;
  switch (kind) {
    case ModelKind::gat:
    case ModelKind::gatv2:
      c.hidden = 8;
      c.heads = 8;
      c.dropout = c.input_dropout = c.attention_dropout = 0.6;
      break;
    case ModelKind::transformer:
      c.hidden = 8;
      c.heads = 8;
      break;
    case ModelKind::agnn:
      c.hidden = 16;
      break;
    default:
      break;
  }
  return c;
}

TrainConfig default_training(ModelKind kind) {
  TrainConfig c;
  c.decay_first_layer_only = kind == ModelKind::gcn;
  if (kind == ModelKind::gat || kind == ModelKind::gatv2 || kind == ModelKind::transformer) {
    c.learning_rate = 0.005;
    c.epochs = 400;
  }
  return c;
}

}  // namespace pantile::nn
