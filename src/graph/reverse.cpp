#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <vector>

#include "graph/state.h"

namespace pantile {
namespace {

constexpr int64_t kRowGrain = 4096;

/// Walks row r of A and of its transpose together and calls f(column, position) once per distinct column, ascending;
/// position is the first edge in A, or -1 when only the transpose has it.
template <class F>
void merge_row(const Csr& a, const Csr& t, int64_t r, F&& f) {
  int64_t k = a.ptr[r], m = t.ptr[r];
  const int64_t k_end = a.ptr[r + 1], m_end = t.ptr[r + 1];
  while (k < k_end || m < m_end) {
    const bool from_a = k < k_end && (m == m_end || a.col[k] <= t.col[m]);
    const int32_t c = from_a ? a.col[k] : t.col[m];
    f(c, from_a ? k : int64_t{-1});
    while (k < k_end && a.col[k] == c) ++k;
    while (m < m_end && t.col[m] == c) ++m;
  }
}

}  // namespace

Result<Graph> Graph::reversed() const {
  PANTILE_CHECK(prepare_transposed());
  const Transposed& t = transposed();
  std::span<const int64_t> ids(t.perm, static_cast<size_t>(edges()));
  if (is_identity(ids)) ids = {};
  return GraphAssembly::borrow(t.csr, ids, GraphAssembly::keep(*this));
}

Result<Graph> Graph::symmetrised() const {
  if (!square()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("only a square graph can be made symmetric; this one has {} destinations and {} sources",
                            rows(), cols()));
  }
  PANTILE_CHECK(prepare_transposed());
  const Csr a = csr(), t = transposed().csr;
  SortedEdges out;
  PANTILE_TRY(out.ptr, Array<int64_t>::allocate(a.rows + 1));
  std::vector<int64_t> first_new(static_cast<size_t>((a.rows + kRowGrain - 1) / kRowGrain) + 1);
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    int64_t added = 0;
    for (int64_t r = begin; r < end; ++r) {
      int64_t degree = 0;
      merge_row(a, t, r, [&](int32_t, int64_t position) {
        ++degree;
        added += position < 0;
      });
      out.ptr[r + 1] = degree;
    }
    first_new[static_cast<size_t>(begin / kRowGrain) + 1] = added;
  });
  out.ptr[0] = 0;
  for (int64_t r = 0; r < a.rows; ++r) out.ptr[r + 1] += out.ptr[r];
  first_new[0] = a.edges();
  for (size_t c = 1; c < first_new.size(); ++c) first_new[c] += first_new[c - 1];

  const int64_t edges = out.ptr[a.rows];
  PANTILE_CHECK(check_memory(12 * edges, fmt::format("the symmetric graph of {} edges", edges)));
  PANTILE_TRY(out.col, Array<int32_t>::allocate(edges));
  PANTILE_TRY(out.edge_id, Array<int64_t>::allocate(edges));
  parallel_for(a.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    int64_t next_new = first_new[static_cast<size_t>(begin / kRowGrain)];
    for (int64_t r = begin; r < end; ++r) {
      int64_t at = out.ptr[r];
      merge_row(a, t, r, [&](int32_t c, int64_t position) {
        out.col[at] = c;
        out.edge_id[at++] = position < 0 ? next_new++ : position;
      });
    }
  });
  if (is_identity(out.edge_id.span())) out.edge_id = {};
  return GraphAssembly::own(a.rows, a.cols, std::move(out));
}

}  // namespace pantile
