#include <pantile/nn/network.h>

#include <fmt/format.h>

namespace pantile::nn {
namespace {

using sparse::Activation;

template <class T>
class Builder {
 public:
  Builder(const ModelConfig& config, const Topology& topology, const DataShape& shape, uint64_t seed)
      : config_(config), topology_(topology), shape_(shape), random_(seed) {}

  Result<std::vector<LayerPtr<T>>> build() {
    const bool attention =
        config_.kind == ModelKind::gat || config_.kind == ModelKind::gatv2 || config_.kind == ModelKind::transformer;
    if (config_.kind == ModelKind::agnn) {
      PANTILE_CHECK(agnn());
    } else if (attention) {
      PANTILE_CHECK(attention_stack());
    } else {
      PANTILE_CHECK(plain_stack());
    }
    return std::move(layers_);
  }

 private:
  Status add(Result<LayerPtr<T>> layer) {
    PANTILE_TRY(auto made, std::move(layer));
    layers_.push_back(std::move(made));
    return {};
  }
  Status dropout(int64_t layer) {
    const double p = layer == 0 ? config_.input_dropout : config_.dropout;
    return p == 0 ? Status{} : add(make_dropout<T>(p, static_cast<uint64_t>(layer)));
  }

  Status plain_stack() {
    int64_t width = shape_.features;
    for (int64_t l = 0; l < config_.layers; ++l) {
      const bool last = l + 1 == config_.layers;
      const int64_t out = last ? shape_.classes : config_.hidden;
      PANTILE_CHECK(dropout(l));
      PANTILE_CHECK(plain_layer(l, width, out, last));
      if (!last && config_.kind != ModelKind::gcn) PANTILE_CHECK(add(make_activation<T>(Activation::relu)));
      width = out;
    }
    return {};
  }

  Status plain_layer(int64_t l, int64_t in, int64_t out, bool last) {
    const bool keep = l == 0 && config_.input_dropout == 0;
    const std::string convolution = fmt::format("convs.{}", l);
    switch (config_.kind) {
      case ModelKind::gcn:
        return add(
            make_gcn<T>(topology_, {convolution, in, out, last ? Activation::none : Activation::relu, keep}, random_));
      case ModelKind::sage:
        return add(make_sage<T>(topology_, {convolution, in, out, config_.aggregation, true, keep}, random_));
      case ModelKind::gin:
        return add(make_gin<T>(topology_, {convolution, in, config_.hidden, out, 0, keep}, random_));
      default:
        return add(make_linear<T>({fmt::format("lins.{}", l), in, out, true}, random_));
    }
  }

  Status attention_stack() {
    int64_t width = shape_.features;
    for (int64_t l = 0; l < config_.layers; ++l) {
      const bool last = l + 1 == config_.layers;
      AttentionOptions o;
      o.name = fmt::format("convs.{}", l);
      o.in = width;
      o.out = last ? shape_.classes : config_.hidden;
      o.heads = last ? config_.output_heads : config_.heads;
      o.concat = !last;
      o.dropout = config_.attention_dropout;
      o.stream = 0x1000 + static_cast<uint64_t>(l);  // apart from the feature dropouts' streams
      PANTILE_CHECK(dropout(l));
      switch (config_.kind) {
        case ModelKind::gat:
          PANTILE_CHECK(add(make_gat<T>(topology_, o, random_)));
          break;
        case ModelKind::gatv2:
          PANTILE_CHECK(add(make_gatv2<T>(topology_, o, random_)));
          break;
        default:
          PANTILE_CHECK(add(make_transformer<T>(topology_, o, random_)));
          break;
      }
      const Activation activation = config_.kind == ModelKind::transformer ? Activation::relu : Activation::elu;
      if (!last) PANTILE_CHECK(add(make_activation<T>(activation)));
      PANTILE_TRY(width, checked_multiply(o.heads, o.out));
    }
    return {};
  }

  Status agnn() {
    PANTILE_CHECK(dropout(0));
    PANTILE_CHECK(add(make_linear<T>({"lin1", shape_.features, config_.hidden, true}, random_)));
    PANTILE_CHECK(add(make_activation<T>(Activation::relu)));
    for (int64_t l = 0; l < config_.layers; ++l) {
      PANTILE_CHECK(add(make_agnn<T>(topology_, {fmt::format("props.{}", l), l > 0})));
    }
    PANTILE_CHECK(dropout(1));
    return add(make_linear<T>({"lin2", config_.hidden, shape_.classes, true}, random_));
  }

  const ModelConfig& config_;
  const Topology& topology_;
  const DataShape& shape_;
  Random random_;
  std::vector<LayerPtr<T>> layers_;
};

}  // namespace

template <class T>
Result<Network<T>> Network<T>::make(const ModelConfig& config, const Topology& topology, const DataShape& shape,
                                    uint64_t seed) {
  PANTILE_CHECK(check_memory(config, shape, available_memory_bytes()));
  if (topology.weighted() && config.kind != ModelKind::gcn && config.kind != ModelKind::mlp) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the data has edge weights and {} takes none; train gcn, or drop edge_weight from the data",
                            name(config.kind)));
  }
  PANTILE_TRY(auto layers, (Builder<T>(config, topology, shape, seed).build()));
  return Network(std::move(layers));
}

template <class T>
Network<T>::Network(std::vector<LayerPtr<T>> layers) : layers_(std::move(layers)) {
  while (first_trained_ < layers_.size() && layers_[first_trained_]->parameters().empty()) ++first_trained_;
}

template <class T>
Result<ConstMatrix> Network<T>::forward(const Features<T>& x, const Pass& pass) {
  Features<T> at = x;
  for (LayerPtr<T>& layer : layers_) {
    PANTILE_TRY(at, layer->forward(at, pass));
  }
  if (at.is_sparse()) return fail(ErrorCode::invalid_argument, "a network without layers has no dense output");
  return at.dense;
}

template <class T>
Status Network<T>::backward(ConstMatrix gradient) {
  for (size_t l = layers_.size(); l-- > first_trained_;) {
    PANTILE_TRY(gradient, layers_[l]->backward(gradient, l > first_trained_));
  }
  return {};
}

template <class T>
std::vector<Parameter<T>*> Network<T>::parameters() {
  std::vector<Parameter<T>*> all;
  for (LayerPtr<T>& layer : layers_) {
    for (Parameter<T>* p : layer->parameters()) all.push_back(p);
  }
  return all;
}

template <class T>
void Network<T>::decay_first_layer_only(bool only) {
  for (size_t l = 0; l < layers_.size(); ++l) {
    for (Parameter<T>* p : layers_[l]->parameters()) p->decay = !only || l == first_trained_;
  }
}

template <class T>
int64_t Network<T>::parameter_count() {
  int64_t count = 0;
  for (const Parameter<T>* p : parameters()) count += p->value.size();
  return count;
}

template <class T>
std::string Network<T>::describe() const {
  std::string text;
  for (const LayerPtr<T>& layer : layers_) text += layer->describe() + "\n";
  return text;
}

template class Network<float>;
template class Network<double>;

}  // namespace pantile::nn
