#include <pantile/core/buffer.h>
#include <pantile/nn/network.h>

#include <fmt/format.h>
#include <cmath>

namespace pantile::nn {
namespace {

constexpr double kValue = sizeof(float);

// Doubles cannot overflow here, and an estimate needs no more than their 53 bits.
struct Estimator {
  const ModelConfig& config;
  const DataShape& shape;
  double parameters = 0, activations = 0;

  double nodes() const { return static_cast<double>(shape.nodes); }
  bool compressed() const { return shape.stored >= 0; }

  void matrices(double count, double width) { activations += count * nodes() * width * kValue; }
  /// Value, gradient, two moments, the best copy, and the partial sums of the gradient.
  void weights(double in, double out) {
    const double chunks = std::min(16.0, std::ceil(nodes() / 256));
    parameters += in * out * kValue * 5;
    activations += in * out * kValue * (compressed() ? 1 : chunks);
  }
  void dropout(double width, bool first, double p) {
    if (p == 0) return;
    if (first && compressed()) {
      activations += static_cast<double>(shape.stored) * kValue;
    } else {
      matrices(first ? 1 : 2, width);
    }
  }
  /// gcn, sage and gin keep the aggregated or transformed input; hidden layers also their input's gradient.
  void convolution(double in, double out, bool first) {
    const bool narrow_first =
        (first && config.input_dropout == 0 && !compressed()) || (in <= out && !(first && compressed()));
    const double inner = narrow_first ? in : out;
    matrices(config.kind == ModelKind::gcn ? 2 : 1, out);  // output, gradient before the activation
    matrices(first && narrow_first ? 1 : 2, inner);
    if (!first) matrices(1, in);
    weights(in, out);
    if (config.kind == ModelKind::sage) {
      weights(in, out);
      if (config.aggregation == Aggregation::max) matrices(first ? 4 : 3, in);  // 64-bit edge ids, dense copy
    }
    if (config.kind == ModelKind::gin) {
      matrices(2, static_cast<double>(config.hidden));
      weights(static_cast<double>(config.hidden), out);
    }
  }
  void attention(double in, double out, double heads, bool first) {
    const double wide = heads * out;
    const bool transformer = config.kind == ModelKind::transformer;
    const double maps = config.kind == ModelKind::gat ? 1 : config.kind == ModelKind::gatv2 ? 2 : 4;
    matrices(transformer ? 9 : config.kind == ModelKind::gat ? 5 : 7, wide);
    matrices(5, heads);
    if (!first) matrices(1, in);
    for (int m = 0; m < maps; ++m) weights(in, wide);
  }
};

Status check_config(const ModelConfig& c, const DataShape& s) {
  const auto refuse = [&](const std::string& what) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {}", name(c.kind), what));
  };
  if (c.layers < 1 || c.layers > 1000) return refuse(fmt::format("{} layers; 1 to 1000 are allowed", c.layers));
  if (c.hidden < 1) return refuse(fmt::format("hidden width {} must be at least 1", c.hidden));
  if (c.heads < 1 || c.output_heads < 1) {
    return refuse(fmt::format("{} heads and {} output heads; at least one of each", c.heads, c.output_heads));
  }
  for (const double p : {c.dropout, c.input_dropout, c.attention_dropout}) {
    if (!(p >= 0 && p < 1)) return refuse(fmt::format("dropout {} is outside [0, 1)", p));
  }
  if (s.nodes < 0 || s.edges < 0 || s.features < 0) return refuse("negative sizes of the data");
  if (s.classes < 1) return refuse("the data has no classes");
  return {};
}

std::string gibibytes(double bytes) { return fmt::format("{:.2f} GiB", bytes / (1 << 30)); }

}  // namespace

Result<MemoryEstimate> estimate_memory(const ModelConfig& config, const DataShape& shape) {
  PANTILE_CHECK(check_config(config, shape));
  Estimator e{config, shape};
  const double hidden = static_cast<double>(config.hidden), classes = static_cast<double>(shape.classes);
  double width = static_cast<double>(shape.features);
  if (config.kind == ModelKind::agnn) {
    e.dropout(width, true, config.input_dropout);
    e.weights(width, hidden);
    e.matrices(4 + 2 * static_cast<double>(config.layers), hidden);
    e.dropout(hidden, false, config.dropout);
    e.weights(hidden, classes);
    e.matrices(2, classes);
  } else {
    for (int64_t l = 0; l < config.layers; ++l) {
      const bool first = l == 0, last = l + 1 == config.layers;
      const double out = last ? classes : hidden;
      const double heads = static_cast<double>(last ? config.output_heads : config.heads);
      e.dropout(width, first, first ? config.input_dropout : config.dropout);
      switch (config.kind) {
        case ModelKind::gat:
        case ModelKind::gatv2:
        case ModelKind::transformer:
          e.attention(width, out, heads, first);
          width = last ? out : heads * out;
          break;
        case ModelKind::mlp:
          e.weights(width, out);
          e.matrices(1, out);
          if (!first) e.matrices(1, width);
          width = out;
          break;
        default:
          e.convolution(width, out, first);
          width = out;
          break;
      }
      if (!last && config.kind != ModelKind::gcn) e.matrices(2, width);  // activation and its gradient
    }
  }
  e.matrices(1, classes);  // gradient of the loss
  const double edges = static_cast<double>(shape.edges);
  const double graph = config.kind == ModelKind::mlp ? 0 : edges * (4 + 12 + 4) + 4 * 8 * e.nodes();
  const double features = shape.stored >= 0 ? static_cast<double>(shape.stored) * (8 + 12) + 16 * e.nodes()
                                            : e.nodes() * static_cast<double>(shape.features) * kValue;
  constexpr double kLargest = 0x1p62;
  if (graph + features + e.parameters + e.activations >= kLargest) {
    return fail(ErrorCode::out_of_memory,
                fmt::format("{} with hidden width {} on {} nodes needs more than 2^62 bytes; use a smaller width",
                            name(config.kind), config.hidden, shape.nodes));
  }
  return MemoryEstimate{static_cast<int64_t>(graph), static_cast<int64_t>(features), static_cast<int64_t>(e.parameters),
                        static_cast<int64_t>(e.activations)};
}

Status check_memory(const ModelConfig& config, const DataShape& shape, int64_t available) {
  PANTILE_TRY(const MemoryEstimate need, estimate_memory(config, shape));
  const int64_t added = need.parameters + need.activations;
  if (available < 0 || added <= available) return {};
  std::string advice = "even a hidden width of 1 does not fit; use a smaller graph or fewer layers";
  ModelConfig smaller = config;
  while (smaller.hidden > 1) {
    smaller.hidden /= 2;
    const auto fits = estimate_memory(smaller, shape);
    if (fits && fits->parameters + fits->activations <= available) {
      advice = fmt::format("a hidden width of {} would fit", smaller.hidden);
      break;
    }
  }
  return fail(
      ErrorCode::out_of_memory,
      fmt::format("training {} with {} layers of width {} on {} nodes needs about {} ({} of activations, {} of "
                  "parameters and optimiser state); {} are available: {}",
                  name(config.kind), config.layers, config.hidden, shape.nodes, gibibytes(static_cast<double>(added)),
                  gibibytes(static_cast<double>(need.activations)), gibibytes(static_cast<double>(need.parameters)),
                  gibibytes(static_cast<double>(available)), advice),
      {{"needed_bytes", fmt::format("{}", added)}, {"available_bytes", fmt::format("{}", available)}});
}

}  // namespace pantile::nn
