#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <algorithm>
#include <atomic>
#include <limits>

#include "graph/state.h"

namespace pantile {
namespace {

constexpr int64_t kMostNodes = std::numeric_limits<int32_t>::max();

/// The largest id (-1 without edges), over fixed chunks.
template <class Id>
int64_t largest(std::span<const Id> ids) {
  const Chunks chunks(static_cast<int64_t>(ids.size()));
  std::vector<int64_t> of_chunk(static_cast<size_t>(chunks.count()), -1);
  parallel_for(chunks.count(), 1, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      of_chunk[static_cast<size_t>(c)] = *std::max_element(ids.begin() + chunks.begin(c), ids.begin() + chunks.end(c));
    }
  });
  return of_chunk.empty() ? -1 : std::max<int64_t>(-1, *std::max_element(of_chunk.begin(), of_chunk.end()));
}

template <class Id>
Result<int64_t> node_count(std::span<const Id> ids, int64_t declared, const char* name) {
  if (declared >= 0) return declared;
  if (declared != -1) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the number of {} nodes is {}; it must be >= 0, or -1 for 1 + the largest id", name, declared));
  }
  const int64_t most = largest(ids);
  if (most < kMostNodes) return most + 1;
  const auto at = std::find(ids.begin(), ids.end(), static_cast<Id>(most)) - ids.begin();
  return fail(
      ErrorCode::unsupported,
      fmt::format(
          "edge {}: {} {} is too large: ids must be below {} because columns are 32-bit; renumber the nodes to 0..n-1",
          at, name, most, kMostNodes),
      {{"edge", std::to_string(at)}, {"id", std::to_string(most)}});
}

template <class Id>
Result<Graph> build_from_edges(std::span<const Id> src, std::span<const Id> dst, int64_t num_dst, int64_t num_src) {
  if (src.size() != dst.size()) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("there are {} sources and {} destinations; every edge needs one of each", src.size(), dst.size()));
  }
  PANTILE_TRY(const int64_t rows, node_count(dst, num_dst, "destination"));
  PANTILE_TRY(const int64_t cols, node_count(src, num_src, "source"));
  PANTILE_CHECK(check_node_counts(rows, cols));
  PANTILE_TRY(SortedEdges arrays, sort_edges(dst, src, rows, cols, "destination", "source"));
  return GraphAssembly::own(rows, cols, std::move(arrays));
}

Status check_offsets(int64_t rows, int64_t cols, std::span<const int64_t> ptr, int64_t edges) {
  if (rows < 0 || cols < 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("a pattern of {} x {} is not possible; both must be >= 0", rows, cols));
  }
  PANTILE_CHECK(check_node_counts(rows, cols));
  if (static_cast<int64_t>(ptr.size()) != rows + 1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("ptr has {} entries; {} rows need {}", ptr.size(), rows, rows + 1));
  }
  if (ptr.front() != 0) return fail(ErrorCode::invalid_argument, fmt::format("ptr[0] = {}; it must be 0", ptr.front()));
  std::atomic<bool> falls{false};
  parallel_for(rows, int64_t{1} << 16, [&](int64_t begin, int64_t end) {
    bool bad = false;
    for (int64_t r = begin; r < end; ++r) bad |= ptr[static_cast<size_t>(r)] > ptr[static_cast<size_t>(r) + 1];
    if (bad) falls.store(true, std::memory_order_relaxed);
  });
  if (falls) {
    size_t r = 0;
    while (ptr[r] <= ptr[r + 1]) ++r;
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("ptr[{}] = {} is below ptr[{}] = {}; offsets must not decrease", r + 1, ptr[r + 1], r, ptr[r]),
        {{"row", std::to_string(r)}});
  }
  if (edges >= 0 && ptr.back() != edges) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("ptr[{}] = {}, but there are {} columns; the two must agree", rows, ptr.back(), edges));
  }
  return {};
}

/// Columns in range; returns whether they ascend inside rows.
template <class Id>
Result<bool> check_columns(int64_t rows, int64_t cols, const int64_t* ptr, const Id* col) {
  std::atomic<bool> invalid{false}, falls{false};
  parallel_by_cost({ptr, static_cast<size_t>(rows) + 1}, [&](int64_t first, int64_t last) {
    bool bad = false, fall = false;
    for (int64_t r = first; r < last; ++r) {
      Id previous = 0;
      for (int64_t k = ptr[r]; k < ptr[r + 1]; ++k) {
        bad |= static_cast<uint64_t>(col[k]) >= static_cast<uint64_t>(cols);
        fall |= col[k] < previous;
        previous = col[k];
      }
    }
    if (bad) invalid.store(true, std::memory_order_relaxed);
    if (fall) falls.store(true, std::memory_order_relaxed);
  });
  if (!invalid) return !falls;
  int64_t k = 0, row = 0;
  while (static_cast<uint64_t>(col[k]) < static_cast<uint64_t>(cols)) ++k;
  while (ptr[row + 1] <= k) ++row;
  return fail(
      ErrorCode::out_of_range,
      fmt::format("row {}: column {} (position {}) is outside [0, {}); {}drop it", row, col[k], k, cols,
                  col[k] < 0 ? std::string() : fmt::format("pass cols >= {} or ", static_cast<uint64_t>(col[k]) + 1)),
      {{"row", std::to_string(row)}, {"position", std::to_string(k)}, {"id", std::to_string(col[k])}});
}

template <class Id>
Result<Graph> build_from_csr(int64_t rows, int64_t cols, std::span<const int64_t> ptr, std::span<const Id> col) {
  const int64_t edges = static_cast<int64_t>(col.size());
  PANTILE_CHECK(check_offsets(rows, cols, ptr, edges));
  PANTILE_TRY(const bool sorted, check_columns(rows, cols, ptr.data(), col.data()));
  PANTILE_CHECK(check_memory(8 * (rows + 1) + 4 * edges, fmt::format("a graph of {} rows and {} edges", rows, edges)));
  SortedEdges arrays;
  PANTILE_TRY(arrays.ptr, Array<int64_t>::allocate(rows + 1));
  std::copy(ptr.begin(), ptr.end(), arrays.ptr.begin());
  PANTILE_TRY(arrays.col, Array<int32_t>::allocate(edges));
  parallel_for(edges, int64_t{1} << 18, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) arrays.col[k] = static_cast<int32_t>(col[static_cast<size_t>(k)]);
  });
  if (!sorted) {
    PANTILE_TRY(arrays, sort_rows({rows, cols, arrays.ptr.data(), arrays.col.data()}));
  }
  return GraphAssembly::own(rows, cols, std::move(arrays));
}

}  // namespace

Status check_node_counts(int64_t rows, int64_t cols) {
  for (const auto& [count, name] : {std::pair{rows, "destination"}, std::pair{cols, "source"}}) {
    if (count <= kMostNodes) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("{} {} nodes are more than {}, the most that 32-bit columns allow; renumber the nodes to "
                            "0..n-1 or split the graph",
                            count, name, kMostNodes),
                {{"nodes", std::to_string(count)}});
  }
  return {};
}

bool is_identity(std::span<const int64_t> ids) {
  for (size_t k = 0; k < ids.size(); ++k) {
    if (ids[k] != static_cast<int64_t>(k)) return false;
  }
  return true;
}

Result<Graph> Graph::from_edges(std::span<const int64_t> src, std::span<const int64_t> dst, int64_t num_dst,
                                int64_t num_src) {
  return build_from_edges(src, dst, num_dst, num_src);
}
Result<Graph> Graph::from_edges(std::span<const int32_t> src, std::span<const int32_t> dst, int64_t num_dst,
                                int64_t num_src) {
  return build_from_edges(src, dst, num_dst, num_src);
}

Result<Graph> Graph::from_csr(int64_t rows, int64_t cols, std::span<const int64_t> ptr, std::span<const int64_t> col) {
  return build_from_csr(rows, cols, ptr, col);
}
Result<Graph> Graph::from_csr(int64_t rows, int64_t cols, std::span<const int64_t> ptr, std::span<const int32_t> col) {
  return build_from_csr(rows, cols, ptr, col);
}

Result<Graph> Graph::borrow_csr(int64_t rows, int64_t cols, const int64_t* ptr, const int32_t* col,
                                std::shared_ptr<const void> owner) {
  if (rows < 0 || ptr == nullptr) {
    return fail(ErrorCode::invalid_argument, "borrowed offsets are missing; ptr must have rows + 1 >= 1 entries");
  }
  PANTILE_CHECK(check_offsets(rows, cols, {ptr, static_cast<size_t>(rows) + 1}, -1));
  if (ptr[rows] > 0 && col == nullptr) {
    return fail(ErrorCode::invalid_argument, fmt::format("borrowed columns are missing; ptr promises {}", ptr[rows]));
  }
  PANTILE_TRY(const bool sorted, check_columns(rows, cols, ptr, col));
  if (!sorted) {
    return fail(ErrorCode::invalid_argument,
                "borrowed columns must ascend inside each row; use from_csr, which copies and sorts");
  }
  return GraphAssembly::borrow({rows, cols, ptr, col}, {}, std::move(owner));
}

}  // namespace pantile
