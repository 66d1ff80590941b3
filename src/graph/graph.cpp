#include <pantile/graph/graph.h>

#include <new>

#include "graph/state.h"

namespace pantile {
namespace {

const int64_t kNoOffsets[1] = {0};

Result<TransposedArrays> make_transposed(const Csr& csr) {
  TransposedArrays t;
  PANTILE_TRY(t.arrays, transpose(csr));
  t.view = {{csr.cols, csr.rows, t.arrays.ptr.data(), t.arrays.col.data()}, t.arrays.edge_id.data()};
  return t;
}

Hash128 hash_pattern(const Csr& csr) {
  const int64_t sizes[3] = {csr.rows, csr.cols, csr.edges()};
  Hash128 h = hash_bytes(sizes, sizeof sizes);
  h = hash_bytes(csr.ptr, static_cast<size_t>(csr.rows + 1) * sizeof(int64_t), h);
  return hash_bytes(csr.col, static_cast<size_t>(csr.edges()) * sizeof(int32_t), h);
}

}  // namespace

Graph::Graph() : state_(std::make_shared<State>()) { state_->ptr = kNoOffsets; }
Graph::Graph(std::shared_ptr<State> state) : state_(std::move(state)) {}

int64_t Graph::rows() const { return state_->rows; }
int64_t Graph::cols() const { return state_->cols; }
int64_t Graph::edges() const { return state_->ptr[state_->rows]; }
Csr Graph::csr() const { return state_->csr(); }
std::span<const int64_t> Graph::ptr() const { return {state_->ptr, static_cast<size_t>(rows()) + 1}; }
std::span<const int32_t> Graph::col() const { return {state_->col, static_cast<size_t>(edges())}; }
std::span<const int64_t> Graph::edge_id() const { return state_->edge_id; }

Status Graph::prepare_transposed() const {
  PANTILE_CHECK(state_->transposed.get([&] { return make_transposed(csr()); }));
  return {};
}

const Transposed& Graph::transposed() const {
  const auto made = state_->transposed.get([&] { return make_transposed(csr()); });
  if (!made) throw std::bad_alloc();
  return (*made)->view;
}

const Hash128& Graph::fingerprint() const {
  return **state_->fingerprint.get([&]() -> Result<Hash128> { return hash_pattern(csr()); });
}

const GraphProfile& Graph::profile() const {
  return **state_->profile.get([&]() -> Result<GraphProfile> { return make_profile(*this); });
}

std::shared_ptr<void> Graph::attached(std::type_index type, const std::function<std::shared_ptr<void>()>& make) const {
  std::shared_ptr<State::Slot> slot;
  {
    std::lock_guard lock(state_->slots_mutex);
    std::shared_ptr<State::Slot>& entry = state_->slots[type];
    if (entry == nullptr) entry = std::make_shared<State::Slot>();
    slot = entry;
  }
  std::call_once(slot->once, [&] { slot->value = make(); });
  return slot->value;
}

Graph GraphAssembly::own(int64_t rows, int64_t cols, SortedEdges arrays) {
  auto state = std::make_shared<Graph::State>();
  state->rows = rows;
  state->cols = cols;
  state->arrays = std::move(arrays);
  state->ptr = state->arrays.ptr.data();
  state->col = state->arrays.col.data();
  state->edge_id = state->arrays.edge_id.span();
  return Graph(std::move(state));
}

Graph GraphAssembly::borrow(const Csr& csr, std::span<const int64_t> edge_id, std::shared_ptr<const void> owner) {
  auto state = std::make_shared<Graph::State>();
  state->rows = csr.rows;
  state->cols = csr.cols;
  state->ptr = csr.ptr;
  state->col = csr.col;
  state->edge_id = edge_id;
  state->owner = std::move(owner);
  return Graph(std::move(state));
}

std::shared_ptr<const void> GraphAssembly::keep(const Graph& g) { return g.state_; }

}  // namespace pantile
