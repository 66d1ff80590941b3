#pragma once

#include <pantile/core/buffer.h>
#include <pantile/graph/graph.h>
#include <algorithm>
#include <cstdint>
#include <span>

namespace pantile {

/// Edges in CSR order. edge_id[k] is the input position of the edge at CSR position k; it is empty when that is the
/// identity.
struct SortedEdges {
  Array<int64_t> ptr;      // [rows + 1]
  Array<int32_t> col;      // [edges]
  Array<int64_t> edge_id;  // [edges] or empty
};

/// Sorts edges by (row, col), stably, in O(E); the same for any thread count. Ids are checked against [0, rows) and [0,
/// cols). One partition by the high bits of the row brings edges into buckets that fit the cache; each bucket is then
/// finished by an LSD radix sort inside the memory of the result, so the peak is the result plus 8 bytes per edge (12
/// when ids are too wide to pack). row_name and col_name are what error messages call the two ends.
Result<SortedEdges> sort_edges(std::span<const int64_t> row, std::span<const int64_t> col, int64_t rows, int64_t cols,
                               const char* row_name, const char* col_name);
Result<SortedEdges> sort_edges(std::span<const int32_t> row, std::span<const int32_t> col, int64_t rows, int64_t cols,
                               const char* row_name, const char* col_name);

/// Sorts the columns inside each row of a validated pattern whose rows may be unsorted.
Result<SortedEdges> sort_rows(const Csr& pattern);

/// The transpose of a validated pattern with sorted rows: row j of the result holds the rows that have column j,
/// ascending.
Result<SortedEdges> transpose(const Csr& pattern);

/// Errors: out_of_memory with the numbers, when `bytes` for `what` exceed what this process can still get.
Status check_memory(int64_t bytes, const std::string& what);

/// Fixed chunks over n items: at most 128, at least 65536 items each. They depend on n alone, never on threads.
struct Chunks {
  explicit Chunks(int64_t n) : items(n), grain(std::max<int64_t>(int64_t{1} << 16, (n + 127) / 128)) {}
  int64_t count() const { return items == 0 ? 0 : (items - 1) / grain + 1; }
  int64_t begin(int64_t chunk) const { return chunk * grain; }
  int64_t end(int64_t chunk) const { return std::min(items, (chunk + 1) * grain); }
  int64_t items, grain;
};

}  // namespace pantile
