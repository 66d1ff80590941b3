#include "graph/edge_sort.h"

#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "graph/records.h"

namespace pantile {
namespace {

constexpr int64_t kSharedBucket = int64_t{1} << 18;  // buckets from this size on are sorted by all threads together

template <class Id>
struct EdgeArrays {
  const Id* row;
  const Id* col;
  template <class F>
  void operator()(int64_t begin, int64_t end, F&& f) const {
    for (int64_t i = begin; i < end; ++i) f(i, static_cast<uint64_t>(row[i]), static_cast<uint64_t>(col[i]));
  }
};

/// The edges of a pattern with the two ends exchanged.
struct ExchangedEdges {
  Csr csr;
  template <class F>
  void operator()(int64_t begin, int64_t end, F&& f) const {
    if (begin == end) return;
    int64_t r = std::upper_bound(csr.ptr, csr.ptr + csr.rows + 1, begin) - csr.ptr - 1;
    for (int64_t i = begin; i < end; ++i) {
      while (i >= csr.ptr[r + 1]) ++r;
      f(i, static_cast<uint64_t>(csr.col[i]), static_cast<uint64_t>(r));
    }
  }
};

/// What one reading of the input tells.
struct Scan {
  bool valid = true;
  bool sorted = true;           // by (row, col): nothing to do
  bool cols_ascend = true;      // by col alone: a stable sort by row is enough
  std::vector<int64_t> counts;  // [chunks, buckets]
};

template <class Id>
Scan scan_edges(const Id* row, const Id* col, int64_t rows, int64_t cols, const Chunks& chunks,
                const RecordFormat& format) {
  Scan scan;
  scan.counts.resize(static_cast<size_t>(chunks.count() * format.buckets()));
  std::atomic<bool> invalid{false}, unsorted{false}, cols_fall{false};
  const uint64_t row_limit = static_cast<uint64_t>(rows), col_limit = static_cast<uint64_t>(cols);
  const uint64_t mask = static_cast<uint64_t>(format.buckets() - 1);  // keeps an invalid row inside the counters
  parallel_for(chunks.count(), 1, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      int64_t* const count = scan.counts.data() + c * format.buckets();
      const int64_t begin = chunks.begin(c), end = chunks.end(c);
      int64_t previous_row = row[std::max<int64_t>(begin - 1, 0)], previous_col = col[std::max<int64_t>(begin - 1, 0)];
      bool bad = false, falls = false, col_falls = false;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t r = row[i], s = col[i];
        bad |= (static_cast<uint64_t>(r) >= row_limit) | (static_cast<uint64_t>(s) >= col_limit);
        falls |= (r < previous_row) | ((r == previous_row) & (s < previous_col));
        col_falls |= s < previous_col;
        previous_row = r;
        previous_col = s;
        ++count[(static_cast<uint64_t>(r) >> format.shift) & mask];
      }
      if (bad) invalid.store(true, std::memory_order_relaxed);
      if (falls) unsorted.store(true, std::memory_order_relaxed);
      if (col_falls) cols_fall.store(true, std::memory_order_relaxed);
    }
  });
  scan.valid = !invalid;
  scan.sorted = !unsorted;
  scan.cols_ascend = !cols_fall;
  return scan;
}

template <class Id>
Error first_bad_edge(std::span<const Id> row, std::span<const Id> col, int64_t rows, int64_t cols, const char* row_name,
                     const char* col_name) {
  for (size_t i = 0; i < row.size(); ++i) {
    const int64_t ids[2] = {col[i], row[i]}, limits[2] = {cols, rows};
    const char* const names[2] = {col_name, row_name};
    for (int k = 0; k < 2; ++k) {
      const int64_t id = ids[k];
      if (id >= 0 && id < limits[k]) continue;
      const std::vector<ErrorDetail> details = {
          {"edge", std::to_string(i)}, {"id", std::to_string(id)}, {"limit", std::to_string(limits[k])}};
      if (id < 0) {
        return {ErrorCode::out_of_range,
                fmt::format("edge {}: {} {} is negative; ids must be in [0, {}); drop the edge or renumber", i,
                            names[k], id, limits[k]),
                details};
      }
      return {ErrorCode::out_of_range,
              fmt::format("edge {}: {} {} is outside [0, {}); pass num_nodes >= {} or drop it", i, names[k], id,
                          limits[k], static_cast<uint64_t>(id) + 1),
              details};
    }
  }
  return {ErrorCode::internal, "the edges changed while they were read", {}};
}

Result<SortedEdges> allocate(int64_t rows, int64_t edges, bool with_ids, int64_t spare_bytes) {
  PANTILE_TRY(const int64_t row_bytes, checked_multiply(rows + 1, 8));
  PANTILE_TRY(const int64_t edge_bytes, checked_multiply(edges, (with_ids ? 12 : 4) + spare_bytes));
  PANTILE_TRY(const int64_t bytes, checked_add(row_bytes, edge_bytes));
  PANTILE_CHECK(check_memory(bytes, fmt::format("building a graph of {} rows and {} edges", rows, edges)));
  SortedEdges out;
  PANTILE_TRY(out.ptr, Array<int64_t>::allocate(rows + 1));
  PANTILE_TRY(out.col, Array<int32_t>::allocate(edges));
  if (with_ids) {
    PANTILE_TRY(out.edge_id, Array<int64_t>::allocate(edges));
  }
  return out;
}

template <class Id>
Result<SortedEdges> copy_sorted(const Id* row, const Id* col, int64_t edges, int64_t rows, const Chunks& chunks) {
  PANTILE_TRY(SortedEdges out, allocate(rows, edges, false, 0));
  parallel_for(chunks.count(), 1, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      int64_t next_row = chunks.begin(c) == 0 ? 0 : static_cast<int64_t>(row[chunks.begin(c) - 1]) + 1;
      for (int64_t i = chunks.begin(c); i < chunks.end(c); ++i) {
        out.col[i] = static_cast<int32_t>(col[i]);
        while (next_row <= static_cast<int64_t>(row[i])) out.ptr[next_row++] = i;
      }
    }
  });
  const int64_t after_last = edges == 0 ? 0 : static_cast<int64_t>(row[edges - 1]) + 1;
  std::fill(out.ptr.begin() + after_last, out.ptr.end(), edges);
  return out;
}

/// One bucket on its way into the result: its records, the CSR position of the first, and room for as many in the
/// result itself, because an edge id and a column take as much room as a record.
template <bool kWide>
class Bucket {
 public:
  Bucket(const RecordFormat& format, Records records, SortedEdges& out, int64_t begin, int64_t edges)
      : format_(format),
        records_(records),
        spare_{reinterpret_cast<uint64_t*>(out.edge_id.data() + begin),
               reinterpret_cast<uint32_t*>(out.col.data() + begin)},
        ptr_(out.ptr.data()),
        col_(out.col.data() + begin),
        edge_id_(out.edge_id.data() + begin),
        begin_(begin),
        edges_(edges) {}
  int64_t begin() const { return begin_; }
  int64_t edges() const { return edges_; }

  /// Sorts by (row, col), or by row alone when the columns ascend already; writes offsets of rows [first_row, end_row)
  /// and edges.
  void finish(int64_t first_row, int64_t end_row, bool cols_ascend) {
    if (format_.shift > kMostGroupBits) {
      sort(cols_ascend, false);
      write_offsets(0, edges_, first_row);
      fill_offsets_behind_last(first_row, end_row);
      write_edges(records_, 0, edges_);
      return;
    }
    group_by_row(first_row, end_row);
    for (int64_t r = first_row; r < end_row; ++r) {
      const int64_t from = ptr_[r] - begin_, to = (r + 1 < end_row ? ptr_[r + 1] - begin_ : edges_);
      cols_ascend ? write_edges(records_, from, to) : finish_row(from, to);
    }
  }
  /// The same by all threads together.
  void finish_together(int64_t first_row, int64_t end_row, bool cols_ascend) {
    sort(cols_ascend, true);
    const Chunks parts(edges_);
    parallel_for(edges_, parts.grain, [&](int64_t from, int64_t to) { write_offsets(from, to, first_row); });
    fill_offsets_behind_last(first_row, end_row);
    parallel_for(edges_, parts.grain, [&](int64_t from, int64_t to) { write_edges(records_, from, to); });
  }
  /// Sorts records [from, to), which share their row, by column.
  void finish_row(int64_t from, int64_t to) {
    if (to - from > kRankLimit || format_.col_bits > kMostRankBits) {
      const Records row = records_.from(from), other = spare_.from(from);
      const bool moved = sort_records<kWide>(row, other, to - from, format_.key_begin(),
                                             format_.key_begin() + format_.col_bits, false);
      return write_edges(moved ? spare_ : records_, from, to);
    }
    std::array<int32_t, kRankLimit> key, rank;  // key: the column above the place in the row, so that keys are distinct
    std::array<int64_t, kRankLimit> id;
    const Fields fields(format_);
    const Records row = records_.from(from);
    const int64_t n = to - from;
    for (int64_t i = 0; i < n; ++i) {
      key[static_cast<size_t>(i)] = fields.col(row, i) << kRankPlaceBits | static_cast<int32_t>(i);
      id[static_cast<size_t>(i)] = fields.id(row, i);
    }
    rank_keys(key.data(), n, rank.data());
    int32_t* const col = col_ + from;
    int64_t* const edge_id = edge_id_ + from;
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      col[rank[i]] = key[i] >> kRankPlaceBits;
      edge_id[rank[i]] = id[i];
    }
  }
  /// Sorts a single row by all threads together.
  void finish_row_together() {
    sort(false, true);
    const Chunks parts(edges_);
    parallel_for(edges_, parts.grain, [&](int64_t from, int64_t to) { write_edges(records_, from, to); });
  }

 private:
  static constexpr int kMostGroupBits = 12, kRankPlaceBits = 6, kMostRankBits = 31 - kRankPlaceBits;

  /// How to take records apart, as a value: read through `this`, it would be loaded anew after every store to a column.
  struct Fields {
    explicit Fields(const RecordFormat& f)
        : key_begin(f.key_begin()),
          col_mask((uint64_t{1} << f.col_bits) - 1),
          id_mask((uint64_t{1} << f.key_begin()) - 1) {}
    int32_t col(Records r, int64_t i) const { return static_cast<int32_t>((r.high[i] >> key_begin) & col_mask); }
    int64_t id(Records r, int64_t i) const {
      const uint64_t id = r.high[i] & id_mask;
      return static_cast<int64_t>(kWide ? id << 32 | r.low[i] : id);
    }
    int key_begin;
    uint64_t col_mask, id_mask;
  };
  int64_t row_of(int64_t i) const {
    return static_cast<int64_t>(records_.high[i] >> format_.key_begin() >> format_.col_bits);
  }

  void sort(bool cols_ascend, bool together) {
    const int begin_bit = format_.key_begin() + (cols_ascend ? format_.col_bits : 0);
    if (sort_records<kWide>(records_, spare_, edges_, begin_bit, format_.key_begin() + format_.key_bits(), together)) {
      std::swap(records_, spare_);
    }
  }
  /// A counting sort by row, stable, that leaves the offsets behind.
  void group_by_row(int64_t first_row, int64_t end_row) {
    std::array<uint32_t, (size_t{1} << kMostGroupBits)> at;
    std::fill_n(at.begin(), size_t{1} << format_.shift, 0u);
    const int row_begin = format_.key_begin() + format_.col_bits;
    const Records from = records_, to = spare_;
    for (int64_t i = 0; i < edges_; ++i) ++at[from.high[i] >> row_begin];
    uint32_t sum = 0;
    for (int64_t r = first_row; r < end_row; ++r) {
      ptr_[r] = begin_ + sum;
      sum += std::exchange(at[static_cast<size_t>(r - first_row)], sum);
    }
    for (int64_t i = 0; i < edges_; ++i) {
      const uint64_t high = from.high[i];
      const uint32_t k = at[high >> row_begin]++;
      to.high[k] = high;
      if constexpr (kWide) to.low[k] = from.low[i];
    }
    std::swap(records_, spare_);
  }
  /// Offsets of the rows that start at records [from, to).
  void write_offsets(int64_t from, int64_t to, int64_t first_row) {
    int64_t next_row = from == 0 ? 0 : row_of(from - 1) + 1;
    for (int64_t i = from; i < to; ++i) {
      for (const int64_t r = row_of(i); next_row <= r; ++next_row) ptr_[first_row + next_row] = begin_ + i;
    }
  }
  void fill_offsets_behind_last(int64_t first_row, int64_t end_row) {
    const int64_t next_row = first_row + (edges_ == 0 ? 0 : row_of(edges_ - 1) + 1);
    std::fill(ptr_ + next_row, ptr_ + end_row, begin_ + edges_);
  }
  /// Unpacks records [from, to); a record may lie where its id goes.
  void write_edges(Records r, int64_t from, int64_t to) {
    const Fields fields(format_);
    int32_t* const cols = col_;
    int64_t* const edge_ids = edge_id_;
    for (int64_t i = from; i < to; ++i) {
      const int32_t col = fields.col(r, i);
      edge_ids[i] = fields.id(r, i);
      cols[i] = col;
    }
  }

  RecordFormat format_;
  Records records_, spare_;
  int64_t* ptr_;
  int32_t* col_;
  int64_t* edge_id_;
  int64_t begin_, edges_;
};

struct RecordMemory {
  Array<uint64_t> high;
  Array<uint32_t> low;
  Records records() { return {high.data(), low.data()}; }
};
Result<RecordMemory> allocate_records(int64_t edges, bool wide) {
  RecordMemory m;
  PANTILE_TRY(m.high, Array<uint64_t>::allocate(edges));
  if (wide) {
    PANTILE_TRY(m.low, Array<uint32_t>::allocate(edges));
  }
  return m;
}

uint64_t pack_high(const RecordFormat& format, bool wide, uint64_t key, int64_t id) {
  return wide ? key << 13 | static_cast<uint64_t>(id) >> 32 : key << format.id_bits | static_cast<uint64_t>(id);
}

/// Partition by the high bits of the row, then finish bucket by bucket. `counts` as scan_edges leaves them.
template <bool kWide, class Edges>
Result<SortedEdges> sort_by_buckets(const Edges& edges, int64_t rows, const Chunks& chunks, const RecordFormat& format,
                                    std::vector<int64_t> counts, bool cols_ascend) {
  PANTILE_TRY(SortedEdges out, allocate(rows, chunks.items, true, format.bytes_per_record()));
  PANTILE_TRY(RecordMemory memory, allocate_records(chunks.items, kWide));
  const std::vector<int64_t> start = offsets_from_counts(counts, chunks.count(), format.buckets());
  const uint64_t row_mask = (uint64_t{1} << format.shift) - 1;
  const auto feed = [&](int64_t begin, int64_t end, auto&& place) {
    edges(begin, end, [&](int64_t id, uint64_t row, uint64_t col) {
      const uint64_t key = (row & row_mask) << format.col_bits | col;
      place(static_cast<int64_t>(row >> format.shift), pack_high(format, kWide, key, id), static_cast<uint32_t>(id));
    });
  };
  scatter<kWide>(chunks, format.buckets(), counts, feed, memory.records());

  const auto bucket_at = [&](int64_t b) {
    const int64_t begin = start[static_cast<size_t>(b)];
    return Bucket<kWide>(format, memory.records().from(begin), out, begin, start[static_cast<size_t>(b) + 1] - begin);
  };
  const auto row_at = [&](int64_t b) { return std::min(rows, b << format.shift); };
  for (int64_t b = 0; b < format.buckets(); ++b) {
    Bucket<kWide> bucket = bucket_at(b);
    if (bucket.edges() >= kSharedBucket) bucket.finish_together(row_at(b), row_at(b + 1), cols_ascend);
  }
  std::vector<int64_t> cost(start);
  for (size_t b = 0; b < cost.size(); ++b) cost[b] = 2 * start[b] + row_at(static_cast<int64_t>(b));
  parallel_by_cost(cost, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      Bucket<kWide> bucket = bucket_at(b);
      if (bucket.edges() < kSharedBucket) bucket.finish(row_at(b), row_at(b + 1), cols_ascend);
    }
  });
  out.ptr[rows] = chunks.items;
  return out;
}

template <class Id>
Result<SortedEdges> sort_arrays(std::span<const Id> row, std::span<const Id> col, int64_t rows, int64_t cols,
                                const char* row_name, const char* col_name) {
  const int64_t edges = static_cast<int64_t>(row.size());
  const Chunks chunks(edges);
  const RecordFormat format = RecordFormat::choose(rows, cols, edges);
  Scan scan = scan_edges(row.data(), col.data(), rows, cols, chunks, format);
  if (!scan.valid) return tl::unexpected<Error>(first_bad_edge(row, col, rows, cols, row_name, col_name));
  if (scan.sorted) return copy_sorted(row.data(), col.data(), edges, rows, chunks);
  const EdgeArrays<Id> source{row.data(), col.data()};
  return format.wide ? sort_by_buckets<true>(source, rows, chunks, format, std::move(scan.counts), scan.cols_ascend)
                     : sort_by_buckets<false>(source, rows, chunks, format, std::move(scan.counts), scan.cols_ascend);
}

template <bool kWide>
Result<SortedEdges> sort_within_rows(const Csr& pattern, RecordFormat format) {
  PANTILE_TRY(SortedEdges out, allocate(pattern.rows, pattern.edges(), true, format.bytes_per_record()));
  PANTILE_TRY(RecordMemory memory, allocate_records(pattern.edges(), kWide));
  std::copy(pattern.ptr, pattern.ptr + pattern.rows + 1, out.ptr.begin());
  const auto pack = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      memory.high[i] = pack_high(format, kWide, static_cast<uint64_t>(pattern.col[i]), i);
      if constexpr (kWide) memory.low[i] = static_cast<uint32_t>(i);
    }
  };
  const auto bucket_at = [&](int64_t r) {
    const int64_t begin = pattern.ptr[r];
    return Bucket<kWide>(format, memory.records().from(begin), out, begin, pattern.ptr[r + 1] - begin);
  };
  for (int64_t r = 0; r < pattern.rows; ++r) {
    Bucket<kWide> bucket = bucket_at(r);
    if (bucket.edges() < kSharedBucket) continue;
    parallel_for(bucket.edges(), int64_t{1} << 16,
                 [&](int64_t from, int64_t to) { pack(bucket.begin() + from, bucket.begin() + to); });
    bucket.finish_row_together();
  }
  parallel_by_cost({pattern.ptr, static_cast<size_t>(pattern.rows) + 1}, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      Bucket<kWide> bucket = bucket_at(r);
      if (bucket.edges() >= kSharedBucket) continue;
      pack(bucket.begin(), bucket.begin() + bucket.edges());
      bucket.finish_row(0, bucket.edges());
    }
  });
  return out;
}

}  // namespace

Status check_memory(int64_t bytes, const std::string& what) {
  if (bytes < (int64_t{1} << 28)) return {};
  const int64_t available = available_memory_bytes();
  if (available < 0 || bytes <= available) return {};
  return fail(
      ErrorCode::out_of_memory,
      fmt::format(
          "{} needs {:.1f} GB and {:.1f} GB are available; use fewer nodes or edges, or a machine with more memory",
          what, static_cast<double>(bytes) * 1e-9, static_cast<double>(available) * 1e-9),
      {{"bytes", std::to_string(bytes)}, {"available", std::to_string(available)}});
}

Result<SortedEdges> sort_edges(std::span<const int64_t> row, std::span<const int64_t> col, int64_t rows, int64_t cols,
                               const char* row_name, const char* col_name) {
  return sort_arrays(row, col, rows, cols, row_name, col_name);
}
Result<SortedEdges> sort_edges(std::span<const int32_t> row, std::span<const int32_t> col, int64_t rows, int64_t cols,
                               const char* row_name, const char* col_name) {
  return sort_arrays(row, col, rows, cols, row_name, col_name);
}

Result<SortedEdges> sort_rows(const Csr& pattern) {
  RecordFormat format = RecordFormat::choose(1, pattern.cols, pattern.edges());
  return format.wide ? sort_within_rows<true>(pattern, format) : sort_within_rows<false>(pattern, format);
}

Result<SortedEdges> transpose(const Csr& pattern) {
  const int64_t edges = pattern.edges();
  const Chunks chunks(edges);
  const RecordFormat format = RecordFormat::choose(pattern.cols, pattern.rows, edges);
  std::vector<int64_t> counts(static_cast<size_t>(chunks.count() * format.buckets()));
  parallel_for(chunks.count(), 1, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      int64_t* const count = counts.data() + c * format.buckets();
      for (int64_t i = chunks.begin(c); i < chunks.end(c); ++i) ++count[pattern.col[i] >> format.shift];
    }
  });
  const ExchangedEdges source{pattern};
  return format.wide ? sort_by_buckets<true>(source, pattern.cols, chunks, format, std::move(counts), true)
                     : sort_by_buckets<false>(source, pattern.cols, chunks, format, std::move(counts), true);
}

}  // namespace pantile
