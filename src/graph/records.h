#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "graph/edge_sort.h"
#include "pantile/core/thread_pool.h"

namespace pantile {

/// How an edge travels through the sort: one word `high` = key above id, where key = (low bits of the row, col). When
/// that does not fit 64 bits, the id's low 32 bits move to a second word and high = key above the id's upper 13 bits.
/// Invariants: records compare as (high, low); they are distinct because ids are; key_bits + id_bits <= 64 or key_bits
/// <= 51.
struct RecordFormat {
  int bucket_bits = 0;  // the row's high bits, known from the bucket, not stored
  int shift = 0;        // the row's low bits, stored
  int col_bits = 0;
  int id_bits = 0;
  bool wide = false;

  static RecordFormat choose(int64_t rows, int64_t cols, int64_t edges) {
    const auto bits = [](int64_t n) {
      return n <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1)));
    };
    RecordFormat f;
    f.col_bits = bits(cols);
    f.id_bits = bits(edges);
    const int row_bits = bits(rows);
    // About 256 edges per bucket when there are few edges, so that counters never outweigh records. At most 10 bits:
    // with 11 the open lines and their counters no longer fit a first-level cache, and the scatter was measured 1.3
    // to 1.8 times slower.
    const int by_edges = std::clamp(bits(edges) - 8, 0, 10);
    f.bucket_bits = std::min(row_bits, std::max(by_edges, row_bits + f.col_bits - 51));
    f.shift = row_bits - f.bucket_bits;
    f.wide = f.key_bits() + f.id_bits > 64;
    return f;
  }
  int key_bits() const { return shift + col_bits; }
  int key_begin() const { return wide ? 13 : id_bits; }
  int64_t buckets() const { return int64_t{1} << bucket_bits; }
  int bytes_per_record() const { return wide ? 12 : 8; }
};

/// Borrowed record storage; `low` is null unless the format is wide.
struct Records {
  uint64_t* high = nullptr;
  uint32_t* low = nullptr;
  Records from(int64_t offset) const { return {high + offset, low == nullptr ? nullptr : low + offset}; }
};

/// counts[chunk * buckets + bucket], turned into the place where the chunk's first record of that bucket goes.
/// Returns the start of every bucket, with the total at the end.
inline std::vector<int64_t> offsets_from_counts(std::vector<int64_t>& counts, int64_t chunks, int64_t buckets) {
  std::vector<int64_t> start(static_cast<size_t>(buckets) + 1);
  int64_t at = 0;
  for (int64_t b = 0; b < buckets; ++b) {
    start[static_cast<size_t>(b)] = at;
    for (int64_t c = 0; c < chunks; ++c) {
      int64_t& slot = counts[static_cast<size_t>(c * buckets + b)];
      const int64_t n = slot;
      slot = at;
      at += n;
    }
  }
  start[static_cast<size_t>(buckets)] = at;
  return start;
}

/// Moves what `feed` yields into bucket order, keeping the order inside a bucket. feed(begin, end, f) calls f(bucket,
/// high, low).
template <bool kWide, class Feed>
void scatter(const Chunks& chunks, int64_t buckets, std::vector<int64_t>& offsets, const Feed& feed, Records to) {
  parallel_for(chunks.count(), 1, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      int64_t* const at = offsets.data() + c * buckets;
      feed(chunks.begin(c), chunks.end(c), [&](int64_t bucket, uint64_t high, uint32_t low) {
        const int64_t k = at[bucket]++;
        to.high[k] = high;
        if constexpr (kWide) to.low[k] = low;
      });
    }
  });
}

/// Sorts n records by the bits [begin_bit, end_bit) of `high`, stably; `spare` is as large as `records`.
/// Returns true when the result lies in `spare`. parallel: worth it for buckets that dwarf the others.
template <bool kWide>
bool sort_records(Records records, Records spare, int64_t n, int begin_bit, int end_bit, bool parallel);

extern template bool sort_records<false>(Records, Records, int64_t, int, int, bool);
extern template bool sort_records<true>(Records, Records, int64_t, int, int, bool);

/// rank[i] = how many of key[0 .. n) are below key[i]: all pairs are compared, which beats sorting passes up to
/// kRankLimit keys because nothing depends on anything. `key` has room for kRankLimit values and is padded here; n <=
/// kRankLimit.
constexpr int64_t kRankLimit = 64;
void rank_keys(int32_t* key, int64_t n, int32_t* rank);

}  // namespace pantile
