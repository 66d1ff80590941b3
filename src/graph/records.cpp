#include "graph/records.h"

#include <array>
#include <limits>

namespace pantile {
namespace {

constexpr int64_t kInsertionLimit = 24;
constexpr int kMostPasses = 8;  // keys have at most 62 bits

template <bool kWide>
void insertion_sort(Records r, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const uint64_t high = r.high[i];
    const uint32_t low = kWide ? r.low[i] : 0;
    int64_t k = i;
    for (; k > 0; --k) {
      if constexpr (kWide) {
        if (r.high[k - 1] < high || (r.high[k - 1] == high && r.low[k - 1] < low)) break;
        r.low[k] = r.low[k - 1];
      } else {
        if (r.high[k - 1] < high) break;
      }
      r.high[k] = r.high[k - 1];
    }
    r.high[k] = high;
    if constexpr (kWide) r.low[k] = low;
  }
}

/// Digits of even width over the bits to sort: 8 bits while the counters would outweigh the records, else 11.
struct Digits {
  Digits(int begin_bit, int end_bit, int64_t n) : begin(begin_bit) {
    const int bits = end_bit - begin_bit, widest = n < 4096 ? 8 : 11;
    passes = (bits + widest - 1) / widest;
    width = passes == 0 ? 0 : (bits + passes - 1) / passes;
  }
  int64_t buckets() const { return int64_t{1} << width; }
  int64_t of(uint64_t high, int pass) const {
    return static_cast<int64_t>((high >> (begin + pass * width)) & ((uint64_t{1} << width) - 1));
  }
  int begin = 0, passes = 0, width = 0;
};

/// kPasses is known to the compiler so that the counting loop unrolls; digits come by value, or they would be loaded
/// anew after every store to a counter.
template <bool kWide, int kPasses>
bool sort_alone(Records from, Records to, int64_t n, const Digits digits) {
  std::array<uint32_t, size_t{kPasses} << 11> counts;  // one array per digit, so that one reading counts all digits
  const int64_t buckets = digits.buckets();
  std::fill_n(counts.begin(), kPasses * buckets, 0u);
  for (int64_t i = 0; i < n; ++i) {
    for (int p = 0; p < kPasses; ++p) ++counts[static_cast<size_t>(p * buckets + digits.of(from.high[i], p))];
  }
  bool moved = false;
  for (int p = 0; p < kPasses; ++p) {
    uint32_t* const at = counts.data() + p * buckets;
    if (at[digits.of(from.high[0], p)] == n) continue;  // all records share this digit
    uint32_t sum = 0;
    for (int64_t b = 0; b < buckets; ++b) sum += std::exchange(at[b], sum);
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t high = from.high[i];
      const uint32_t k = at[digits.of(high, p)]++;
      to.high[k] = high;
      if constexpr (kWide) to.low[k] = from.low[i];
    }
    std::swap(from, to);
    moved = !moved;
  }
  return moved;
}

template <bool kWide, int kPasses = 1>
bool sort_alone_in(int passes, Records from, Records to, int64_t n, const Digits digits) {
  if constexpr (kPasses < kMostPasses) {
    if (passes > kPasses) return sort_alone_in<kWide, kPasses + 1>(passes, from, to, n, digits);
  }
  return sort_alone<kWide, kPasses>(from, to, n, digits);
}

template <bool kWide>
bool sort_together(Records from, Records to, int64_t n, const Digits& digits) {
  const Chunks chunks(n);
  for (int p = 0; p < digits.passes; ++p) {
    const int64_t buckets = digits.buckets();
    std::vector<int64_t> counts(static_cast<size_t>(chunks.count() * buckets));
    parallel_for(chunks.count(), 1, [&](int64_t first, int64_t last) {
      for (int64_t c = first; c < last; ++c) {
        int64_t* const count = counts.data() + c * buckets;
        for (int64_t i = chunks.begin(c); i < chunks.end(c); ++i) ++count[digits.of(from.high[i], p)];
      }
    });
    offsets_from_counts(counts, chunks.count(), buckets);
    const auto feed = [&](int64_t begin, int64_t end, auto&& f) {
      for (int64_t i = begin; i < end; ++i) f(digits.of(from.high[i], p), from.high[i], kWide ? from.low[i] : 0);
    };
    scatter<kWide>(chunks, buckets, counts, feed, to);
    std::swap(from, to);
  }
  return digits.passes % 2 == 1;
}

}  // namespace

template <bool kWide>
bool sort_records(Records records, Records spare, int64_t n, int begin_bit, int end_bit, bool parallel) {
  if (n <= 1) return false;
  if (n <= kInsertionLimit) {
    insertion_sort<kWide>(records, n);
    return false;
  }
  const Digits digits(begin_bit, end_bit, n);
  if (digits.passes == 0) return false;
  return parallel ? sort_together<kWide>(records, spare, n, digits)
                  : sort_alone_in<kWide>(digits.passes, records, spare, n, digits);
}

template bool sort_records<false>(Records, Records, int64_t, int, int, bool);
template bool sort_records<true>(Records, Records, int64_t, int, int, bool);

void rank_keys(int32_t* key, int64_t n, int32_t* rank) {
  constexpr int64_t kLanes = 16;
  static_assert(kRankLimit % kLanes == 0);
  std::fill(key + n, key + (n + kLanes - 1) / kLanes * kLanes, std::numeric_limits<int32_t>::max());
  for (int64_t first = 0; first < n; first += kLanes) {
    std::array<int32_t, kLanes> own, below{};
    std::copy_n(key + first, kLanes, own.begin());
    for (int64_t k = 0; k < n; ++k) {
      const int32_t other = key[k];
      for (size_t lane = 0; lane < kLanes; ++lane) below[lane] += other < own[lane];
    }
    std::copy_n(below.begin(), kLanes, rank + first);
  }
}

}  // namespace pantile
