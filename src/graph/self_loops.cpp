#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <algorithm>

#include "graph/state.h"

namespace pantile {
namespace {

constexpr int64_t kRowGrain = 4096;

Status need_square(const Graph& g) {
  if (g.square()) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("self-loops need a square graph; this one has {} destinations and {} sources", g.rows(), g.cols()));
}

bool has_loop(const Csr& a, int64_t row) {
  return std::binary_search(a.col + a.ptr[row], a.col + a.ptr[row + 1], static_cast<int32_t>(row));
}

/// Row offsets of the result from added(row), the number of edges that each row gains.
template <class Added>
Result<Array<int64_t>> offsets(const Csr& a, const Added& added) {
  PANTILE_TRY(Array<int64_t> ptr, Array<int64_t>::allocate(a.rows + 1));
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) ptr[r + 1] = a.ptr[r + 1] - a.ptr[r] + added(r);
  });
  ptr[0] = 0;
  for (int64_t r = 0; r < a.rows; ++r) ptr[r + 1] += ptr[r];
  return ptr;
}

Result<SortedEdges> with_offsets(Array<int64_t> ptr, int64_t rows) {
  SortedEdges out;
  out.ptr = std::move(ptr);
  const int64_t edges = out.ptr[rows];
  PANTILE_CHECK(check_memory(12 * edges, fmt::format("a changed copy of {} edges", edges)));
  PANTILE_TRY(out.col, Array<int32_t>::allocate(edges));
  PANTILE_TRY(out.edge_id, Array<int64_t>::allocate(edges));
  return out;
}

/// One loop more on every row for which `wanted` holds, behind the edges of the same or a smaller column.
template <class Wanted>
Result<Graph> add_loops(const Graph& g, const Wanted& wanted) {
  PANTILE_CHECK(need_square(g));
  const Csr a = g.csr();
  PANTILE_TRY(Array<int64_t> ptr, offsets(a, [&](int64_t r) { return wanted(r) ? int64_t{1} : int64_t{0}; }));
  PANTILE_TRY(SortedEdges out, with_offsets(std::move(ptr), a.rows));
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t added_before = out.ptr[r] - a.ptr[r], first = a.ptr[r], last = a.ptr[r + 1];
      const bool add = out.ptr[r + 1] - a.ptr[r + 1] > added_before;
      const int64_t cut = add ? std::upper_bound(a.col + first, a.col + last, static_cast<int32_t>(r)) - a.col : last;
      int64_t at = out.ptr[r];
      const auto copy = [&](int64_t from, int64_t to) {
        for (int64_t k = from; k < to; ++k, ++at) {
          out.col[at] = a.col[k];
          out.edge_id[at] = k;
        }
      };
      copy(first, cut);
      if (add) {
        out.col[at] = static_cast<int32_t>(r);
        out.edge_id[at++] = a.edges() + added_before;
      }
      copy(cut, last);
    }
  });
  if (is_identity(out.edge_id.span())) out.edge_id = {};
  return GraphAssembly::own(a.rows, a.cols, std::move(out));
}

}  // namespace

Result<Graph> Graph::with_self_loops() const {
  return add_loops(*this, [](int64_t) { return true; });
}

Result<Graph> Graph::with_remaining_self_loops() const {
  const Csr a = csr();
  return add_loops(*this, [&](int64_t r) { return !has_loop(a, r); });
}

Result<Graph> Graph::without_self_loops() const {
  PANTILE_CHECK(need_square(*this));
  const Csr a = csr();
  const auto loops = [&](int64_t r) {
    const auto [first, last] = std::equal_range(a.col + a.ptr[r], a.col + a.ptr[r + 1], static_cast<int32_t>(r));
    return static_cast<int64_t>(last - first);
  };
  PANTILE_TRY(Array<int64_t> ptr, offsets(a, [&](int64_t r) { return -loops(r); }));
  PANTILE_TRY(SortedEdges out, with_offsets(std::move(ptr), a.rows));
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t at = out.ptr[r];
      for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) {
        if (a.col[k] == r) continue;
        out.col[at] = a.col[k];
        out.edge_id[at++] = k;
      }
    }
  });
  if (is_identity(out.edge_id.span())) out.edge_id = {};
  return GraphAssembly::own(a.rows, a.cols, std::move(out));
}

}  // namespace pantile
