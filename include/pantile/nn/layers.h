#pragma once

#include <pantile/core/error.h>
#include <pantile/core/random.h>
#include <pantile/nn/layer.h>
#include <pantile/nn/topology.h>
#include <pantile/sparse/gcn.h>
#include <cstdint>
#include <memory>
#include <string>

/// The layers. Each is made by a function that draws its parameters from `random`, so that a seed fixes a network;
/// names and starting values of parameters are those of torch-geometric's layer of the same name. T is float or double.
/// Errors of all: invalid_argument (widths below 0, no heads, probabilities outside [0, 1)), out_of_memory.
namespace pantile::nn {

template <class T>
using LayerPtr = std::unique_ptr<Layer<T>>;  ///< an owned layer

/// y = x W^T + b on every node; takes compressed features.
struct LinearOptions {
  std::string name = "lin";
  int64_t in = 0, out = 0;
  bool bias = true;
};
template <class T>
Result<LayerPtr<T>> make_linear(const LinearOptions& options, Random& random);

/// Inverted dropout: an element is kept with probability 1 - p and then scaled by 1 / (1 - p), where p is rounded to a
/// multiple of 2^-16. The mask comes from Philox(pass seed, stream, element) and is made again in the backward pass.
/// Takes and gives compressed features: only stored elements are dropped, which is the same thing. No effect outside
/// training.
template <class T>
Result<LayerPtr<T>> make_dropout(double probability, uint64_t stream);

/// relu, elu (alpha 1) or leaky_relu; none passes through.
template <class T>
Result<LayerPtr<T>> make_activation(sparse::Activation activation, double negative_slope = 0.01);

/// Kipf and Welling 2017: y = act(A' x W^T + b) with A' as Topology::gcn_coefficients. The product with W comes before
/// the aggregation when that makes the gathered rows shorter or x is compressed, after it otherwise.
struct GcnOptions {
  std::string name;
  int64_t in = 0, out = 0;
  sparse::Activation activation = sparse::Activation::none;  ///< none or relu, inside the aggregation
  bool keep_aggregate = false;  ///< dense constant inputs: aggregate once and keep A' x, for [nodes, in] more memory
};
template <class T>
Result<LayerPtr<T>> make_gcn(const Topology& topology, const GcnOptions& options, Random& random);

/// Hamilton et al. 2017: y = aggregate(x_j) Wl^T + bl + x Wr^T (no Wr without root_weight). Isolated nodes aggregate to
/// 0.
enum class Aggregation { mean, max, sum };
struct SageOptions {
  std::string name;
  int64_t in = 0, out = 0;
  Aggregation aggregation = Aggregation::mean;
  bool root_weight = true;
  bool keep_aggregate = false;  ///< as in GcnOptions
};
template <class T>
Result<LayerPtr<T>> make_sage(const Topology& topology, const SageOptions& options, Random& random);

/// Xu et al. 2019: y = W2 relu(W1 ((1 + epsilon) x_i + sum of x_j) + b1) + b2.
struct GinOptions {
  std::string name;
  int64_t in = 0, hidden = 0, out = 0;
  double epsilon = 0;
  bool keep_aggregate = false;  ///< as in GcnOptions
};
template <class T>
Result<LayerPtr<T>> make_gin(const Topology& topology, const GinOptions& options, Random& random);

/// For the attention layers. `out` is the width of one head; the output has heads * out columns (concat) or out (mean).
struct AttentionOptions {
  std::string name;
  int64_t in = 0, out = 0, heads = 1;
  bool concat = true;
  double dropout = 0;   ///< of the attention coefficients
  uint64_t stream = 0;  ///< of that dropout's masks
  double negative_slope = 0.2;
};
/// Velickovic et al. 2018, with self-loops.
template <class T>
Result<LayerPtr<T>> make_gat(const Topology& topology, const AttentionOptions& options, Random& random);
/// Brody et al. 2022, with self-loops.
template <class T>
Result<LayerPtr<T>> make_gatv2(const Topology& topology, const AttentionOptions& options, Random& random);
/// Shi et al. 2021, without self-loops, plus a linear map of the node itself.
template <class T>
Result<LayerPtr<T>> make_transformer(const Topology& topology, const AttentionOptions& options, Random& random);

/// Thekumparampil et al. 2018, with self-loops; the width does not change.
struct AgnnOptions {
  std::string name;
  bool train_beta = true;  ///< false: beta stays 1
};
template <class T>
Result<LayerPtr<T>> make_agnn(const Topology& topology, const AgnnOptions& options);

}  // namespace pantile::nn
