#include <pantile/nn/topology.h>

#include <fmt/format.h>
#include <cmath>
#include <mutex>
#include <optional>

namespace pantile::nn {

struct Topology::State {
  Graph graph;
  sparse::Plan plain;
  std::vector<float> weights;     // [edges] in CSR order, or empty
  std::vector<double> weights64;  // the same for double layers
  std::mutex mutex;               // guards what is made on first use
  std::optional<sparse::Plan> looped;
  std::shared_ptr<const sparse::GcnCoefficients> gcn32, gcn64;
};

Result<Topology> Topology::of(const Graph& graph, std::vector<float> weights) {
  if (!graph.square()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format(
            "the graph has {} destinations and {} sources; a network over one set of nodes needs a square graph",
            graph.rows(), graph.cols()));
  }
  if (!weights.empty() && static_cast<int64_t>(weights.size()) != graph.edges()) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} weights for {} edges", weights.size(), graph.edges()));
  }
  for (size_t k = 0; k < weights.size(); ++k) {
    if (!std::isfinite(weights[k])) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("weight of edge {} is {}; weights must be finite", k, weights[k]));
    }
  }
  auto state =
      std::shared_ptr<State>(new State{graph, sparse::Plan::of(graph), std::move(weights), {}, {}, {}, {}, {}});
  state->weights64.assign(state->weights.begin(), state->weights.end());
  return Topology(std::move(state));
}

int64_t Topology::nodes() const { return state_->graph.rows(); }
const sparse::Plan& Topology::plain() const { return state_->plain; }
bool Topology::weighted() const { return !state_->weights.empty(); }

Result<sparse::Plan> Topology::looped() const {
  std::lock_guard lock(state_->mutex);
  if (!state_->looped) {
    PANTILE_TRY(const Graph bare, state_->graph.without_self_loops());
    PANTILE_TRY(const Graph looped, bare.with_self_loops());
    state_->looped = sparse::Plan::of(looped);
  }
  return *state_->looped;
}

template <class T>
Result<std::shared_ptr<const sparse::GcnCoefficients>> Topology::gcn_coefficients() const {
  std::lock_guard lock(state_->mutex);
  constexpr bool kDouble = dtype_of<T> == DType::f64;
  auto& slot = kDouble ? state_->gcn64 : state_->gcn32;
  if (slot == nullptr) {
    sparse::EdgeValues w;
    if (!state_->weights.empty()) {
      w.data = kDouble ? static_cast<const void*>(state_->weights64.data()) : state_->weights.data();
    }
    w.dtype = dtype_of<T>;
    PANTILE_TRY(slot, sparse::gcn_coefficients(state_->plain, sparse::GcnNorm::pyg, 1.0, w, dtype_of<T>));
  }
  return slot;
}

template Result<std::shared_ptr<const sparse::GcnCoefficients>> Topology::gcn_coefficients<float>() const;
template Result<std::shared_ptr<const sparse::GcnCoefficients>> Topology::gcn_coefficients<double>() const;

}  // namespace pantile::nn
