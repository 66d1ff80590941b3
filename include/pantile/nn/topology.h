#pragma once

#include <pantile/core/error.h>
#include <pantile/graph/graph.h>
#include <pantile/sparse/gcn.h>
#include <pantile/sparse/plan.h>
#include <cstdint>
#include <memory>
#include <vector>

namespace pantile::nn {

/// The graph as the layers want it, shared by all layers of a network: as given, and with exactly one self-loop on
/// every node (what the attention layers of torch-geometric make of it). A shared handle; copies cost nothing.
class Topology {
 public:
  /// Errors: invalid_argument when the graph is not square or `weights` is neither empty nor [edges] in CSR order or
  /// not finite.
  static Result<Topology> of(const Graph& graph, std::vector<float> weights = {});

  int64_t nodes() const;
  const sparse::Plan& plain() const;
  /// Loops removed, then one added to each node; made on first use.
  Result<sparse::Plan> looped() const;
  bool weighted() const;
  /// Symmetric normalisation with self-loops of weight 1 where a node has none (Kipf and Welling 2017, equation 2; as
  /// torch-geometric's gcn_norm, edge weights included). T is float or double.
  template <class T>
  Result<std::shared_ptr<const sparse::GcnCoefficients>> gcn_coefficients() const;

 private:
  struct State;
  explicit Topology(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace pantile::nn
