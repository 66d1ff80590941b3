#pragma once

#include <pantile/core/buffer.h>
#include <pantile/graph/graph.h>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <typeindex>

#include "graph/edge_sort.h"

namespace pantile {

/// Something made once, on first use, by whichever thread comes first. A failed attempt leaves it unmade.
template <class T>
class Lazy {
 public:
  template <class Make>
  Result<const T*> get(const Make& make) {
    if (const T* made = made_.load(std::memory_order_acquire)) return made;
    std::lock_guard lock(mutex_);
    if (!value_) {
      Result<T> value = make();
      if (!value) return tl::unexpected<Error>(std::move(value.error()));
      value_ = std::move(*value);
      made_.store(&*value_, std::memory_order_release);
    }
    return &*value_;
  }

 private:
  std::mutex mutex_;
  std::optional<T> value_;
  std::atomic<const T*> made_{nullptr};
};

struct TransposedArrays {
  SortedEdges arrays;
  Transposed view;
};

/// What all copies of a Graph share. The views point into `arrays`, or into memory that `owner` keeps alive.
struct Graph::State {
  int64_t rows = 0, cols = 0;
  const int64_t* ptr = nullptr;  // [rows + 1]
  const int32_t* col = nullptr;  // [edges]
  std::span<const int64_t> edge_id;
  SortedEdges arrays;
  std::shared_ptr<const void> owner;

  Lazy<TransposedArrays> transposed;
  Lazy<Hash128> fingerprint;
  Lazy<GraphProfile> profile;
  struct Slot {
    std::once_flag once;
    std::shared_ptr<void> value;
  };
  std::mutex slots_mutex;
  std::map<std::type_index, std::shared_ptr<Slot>> slots;

  Csr csr() const { return {rows, cols, ptr, col}; }
};

GraphProfile make_profile(const Graph& g);

/// Makes graphs from arrays that hold the invariants of Graph already.
struct GraphAssembly {
  static Graph own(int64_t rows, int64_t cols, SortedEdges arrays);
  static Graph borrow(const Csr& csr, std::span<const int64_t> edge_id, std::shared_ptr<const void> owner);
  /// The same arrays, with CSR order as the edges' own order.
  static Graph without_ids(const Graph& g) { return borrow(g.csr(), {}, keep(g)); }
  /// Keeps the graph's memory alive without the handle.
  static std::shared_ptr<const void> keep(const Graph& g);
};

/// Errors: unsupported when a node count does not fit column ids.
Status check_node_counts(int64_t rows, int64_t cols);
/// True when ids[k] = k for all k.
bool is_identity(std::span<const int64_t> ids);

}  // namespace pantile
