#pragma once

#include <pantile/core/error.h>
#include <pantile/nn/layers.h>
#include <pantile/nn/topology.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pantile::nn {

/// The node-classification networks. mlp is the control: the same kind of network without the graph.
enum class ModelKind { gcn, sage, gin, gat, gatv2, agnn, transformer, mlp };
inline constexpr ModelKind kModelKinds[] = {ModelKind::gcn,   ModelKind::sage, ModelKind::gin,         ModelKind::gat,
                                            ModelKind::gatv2, ModelKind::agnn, ModelKind::transformer, ModelKind::mlp};
const char* name(ModelKind kind);
std::optional<ModelKind> model_from_name(std::string_view name);
const char* name(Aggregation aggregation);
std::optional<Aggregation> aggregation_from_name(std::string_view name);

/// What a network is, apart from its input and output widths.
///   gcn, sage, gin, mlp  layers x (dropout, layer, relu), no relu after the last; gin's inner width is the layer's
///   output,
///                        `hidden` in the last one
///   gat, gatv2           the same with elu; `heads` heads of `hidden` each, concatenated; the last layer has
///   `output_heads`
///                        heads of `classes` each, averaged
///   transformer          as gat with relu
///   agnn                 dropout, linear, relu, `layers` propagations (beta trained from the second on), dropout,
///   linear
struct ModelConfig {
  ModelKind kind = ModelKind::gcn;
  int64_t hidden = 64;
  int64_t layers = 2;
  int64_t heads = 1, output_heads = 1;
  double dropout = 0.5;        ///< between layers
  double input_dropout = 0.5;  ///< of the features; 0 lets a dense first layer aggregate them once for all epochs
  double attention_dropout = 0;
  Aggregation aggregation = Aggregation::mean;  ///< of sage
};
/// Hyper-parameters of the paper or of torch-geometric's example of that model on citation graphs.
ModelConfig default_model(ModelKind kind);

/// What is known of the data before any of it is read into layers.
struct DataShape {
  int64_t nodes = 0, edges = 0, features = 0, classes = 0;
  int64_t stored = -1;  ///< elements of compressed features; -1: dense
};

/// Bytes that training will hold, features and graph included; an estimate from shapes alone.
struct MemoryEstimate {
  int64_t graph = 0, features = 0, parameters = 0, activations = 0;
  int64_t total() const { return graph + features + parameters + activations; }
};
/// Errors: out_of_memory when a size does not fit in 63 bits; invalid_argument for a configuration that no network has.
Result<MemoryEstimate> estimate_memory(const ModelConfig& config, const DataShape& shape);
/// out_of_memory when what training adds to the loaded data exceeds `available` bytes (negative: unknown, never
/// refused); the message names the parts and the largest width that would fit.
Status check_memory(const ModelConfig& config, const DataShape& shape, int64_t available);

/// A stack of layers. T is float or double. Move-only; not thread-safe.
template <class T>
class Network {
 public:
  /// Parameters are drawn from `seed`: the same seed gives the same network on every machine.
  /// Errors: invalid_argument (configuration, edge weights with a model other than gcn), out_of_memory (before
  /// allocating).
  static Result<Network> make(const ModelConfig& config, const Topology& topology, const DataShape& shape,
                              uint64_t seed);
  /// From layers of the caller's own.
  explicit Network(std::vector<LayerPtr<T>> layers);

  /// Logits [nodes, classes], borrowed until the next call.
  Result<ConstMatrix> forward(const Features<T>& x, const Pass& pass);
  /// Writes the gradient of every parameter.
  Status backward(ConstMatrix gradient);
  std::vector<Parameter<T>*> parameters();
  /// Weight decay on the first layer's parameters only (Kipf and Welling 2017, section 5.2), or on all.
  void decay_first_layer_only(bool only);
  int64_t parameter_count();
  /// One layer a line.
  std::string describe() const;

 private:
  std::vector<LayerPtr<T>> layers_;
  size_t first_trained_ = 0;  // index of the first layer with parameters
};

extern template class Network<float>;
extern template class Network<double>;

}  // namespace pantile::nn
