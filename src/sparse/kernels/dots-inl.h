// Per-head dots of a chunk, four at a time, for whatever terms a dot adds up. Per target.
#if defined(PANTILE_SPARSE_DOTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PANTILE_SPARSE_DOTS_INL_H
#undef PANTILE_SPARSE_DOTS_INL_H
#else
#define PANTILE_SPARSE_DOTS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "sparse/kernels/edge_chunk.h"
#include "sparse/kernels/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

// The empty asm keeps GCC 12 from taking this for a pure function and deleting the call.
HWY_INLINE void fetch_row(const Ahead& ahead, int k, int64_t bytes) {
  asm volatile("");
  if (ahead.base == nullptr || k + ahead.distance >= ahead.edges) return;
  const char* row = ahead.base + ahead.col[k + ahead.distance] * ahead.stride_bytes;
  for (int64_t at = 0; at < bytes; at += 64) hwy::Prefetch(row + at);
}

#if HWY_TARGET == HWY_SCALAR
template <class D, class V>
HWY_INLINE void store_sums(D, V s0, V s1, V s2, V s3, hn::TFromD<D>* out) {
  out[0] = hn::GetLane(s0);
  out[1] = hn::GetLane(s1);
  out[2] = hn::GetLane(s2);
  out[3] = hn::GetLane(s3);
}
#else
// Adds the 128-bit blocks of a vector.
template <class D>
HWY_INLINE auto fold_blocks([[maybe_unused]] D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return fold_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// out[0..4) = the sums of the lanes of four vectors: a tree of interleavings and additions.
template <class D, class V>
HWY_INLINE void store_sums(D d, V s0, V s1, V s2, V s3, hn::TFromD<D>* out) {
  const hn::Full128<hn::TFromD<D>> block;
  const V a = hn::Add(hn::InterleaveLower(d, s0, s1), hn::InterleaveUpper(d, s0, s1));
  const V b = hn::Add(hn::InterleaveLower(d, s2, s3), hn::InterleaveUpper(d, s2, s3));
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    hn::StoreU(fold_blocks(d, a), block, out);
    hn::StoreU(fold_blocks(d, b), block, out + 2);
  } else {
    const hn::RepartitionToWide<hn::RebindToUnsigned<D>> wide;
    const auto low = hn::InterleaveLower(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
    const auto high = hn::InterleaveUpper(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
    hn::StoreU(fold_blocks(d, hn::Add(hn::BitCast(d, low), hn::BitCast(d, high))), block, out);
  }
}

#endif

// What a dot between the row's own values and an edge's row adds up: the terms of features f, f + 1, ... of edge k, a
// whole vector or its first n lanes.
template <class T>
struct OwnTerms {
  const AccumulatorOf<T>* own;
  Rows<T> rows;
  template <class D>
  HWY_INLINE hn::Vec<D> add(D d, int k, int f, hn::Vec<D> sum) const {
    return hn::MulAdd(hn::LoadU(d, own + f), load(d, rows[k] + f), sum);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> add_partial(D d, int k, int f, size_t n, hn::Vec<D> sum) const {
    return hn::MulAdd(load_partial(d, own + f, n), load_partial(d, rows[k] + f, n), sum);
  }
};

// The first kLive (1, 2 or 4) of four dots: of edge[q], from feature at[q] on. The others are not read.
template <int kLive, class D, class Terms>
HWY_INLINE void four_dots(D d, const Terms& terms, const int* edge, const int* at, int whole, size_t rest, int lanes,
                          hn::TFromD<D>* out) {
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (int f = 0; f < whole; f += lanes) {
    s0 = terms.add(d, edge[0], at[0] + f, s0);
    if constexpr (kLive > 1) s1 = terms.add(d, edge[1], at[1] + f, s1);
    if constexpr (kLive > 2) s2 = terms.add(d, edge[2], at[2] + f, s2);
    if constexpr (kLive > 2) s3 = terms.add(d, edge[3], at[3] + f, s3);
  }
  if (rest != 0) {
    s0 = terms.add_partial(d, edge[0], at[0] + whole, rest, s0);
    if constexpr (kLive > 1) s1 = terms.add_partial(d, edge[1], at[1] + whole, rest, s1);
    if constexpr (kLive > 2) s2 = terms.add_partial(d, edge[2], at[2] + whole, rest, s2);
    if constexpr (kLive > 2) s3 = terms.add_partial(d, edge[3], at[3] + whole, rest, s3);
  }
  store_sums(d, s0, s1, s2, s3, out);
}

// Four dots at a time: kEdges edges x (4 / kEdges) heads. Missing heads repeat the last one, and so does a fourth edge.
template <int kEdges, class T, class Terms>
HWY_INLINE void dots(const Terms& terms, int n, Heads shape, AccumulatorOf<T>* out, const Ahead& ahead) {
  using A = AccumulatorOf<T>;
  const hn::ScalableTag<A> d;
  constexpr int kHeads = 4 / kEdges;
  const int lanes = static_cast<int>(hn::Lanes(d)), dim = shape.dim, whole = dim - dim % lanes;
  const size_t rest = static_cast<size_t>(dim % lanes);
  const int64_t row_bytes = static_cast<int64_t>(shape.features()) * static_cast<int64_t>(sizeof(T));
  for (int k = 0; k < n; k += kEdges) {
    int edge[4];
    for (int q = 0; q < 4; ++q) edge[q] = std::min(k + q / kHeads, n - 1);
    for (int q = 0; q < kEdges; ++q) fetch_row(ahead, k + q, row_bytes);
    for (int h = 0; h < shape.padded; h += kHeads) {
      int at[4];
      for (int q = 0; q < 4; ++q) at[q] = std::min(h + q % kHeads, shape.heads - 1) * dim;
      A* const to = out + k * shape.padded + h;
      const int live = kEdges == 4 ? n - k : 4;
      if (live >= 3) {
        four_dots<4>(d, terms, edge, at, whole, rest, lanes, to);
      } else if constexpr (kEdges == 4) {
        if (live == 2)
          four_dots<2>(d, terms, edge, at, whole, rest, lanes, to);
        else
          four_dots<1>(d, terms, edge, at, whole, rest, lanes, to);
      }
    }
  }
}
// kPairs: two edges of two heads at a time; without it, two heads cost what four do, and the code is smaller.
template <bool kPairs, class T, class Terms>
HWY_INLINE void dots_of(const Terms& terms, int n, Heads shape, AccumulatorOf<T>* out, const Ahead& ahead) {
  if (shape.padded == 1) return dots<4, T>(terms, n, shape, out, ahead);
  if constexpr (kPairs) {
    if (shape.padded == 2) return dots<2, T>(terms, n, shape, out, ahead);
  }
  return dots<1, T>(terms, n, shape, out, ahead);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
