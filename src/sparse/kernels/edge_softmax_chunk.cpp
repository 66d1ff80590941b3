// Logits, softmax and its gradient over the edges of a chunk (see edge_chunk.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/edge_softmax_chunk.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "sparse/kernels/edge_chunk.h"
#include "sparse/kernels/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

template <class A>
inline constexpr A kInfinity = std::numeric_limits<A>::infinity();

// Values of a chunk up to a whole period, so that a column of vectors always sees the same heads.
HWY_INLINE int rounded(int values, int period) { return (values + period - 1) / period * period; }

template <class A>
HWY_INLINE int pad_chunk(int n, int padded, A value, A* z) {
  const int values = n * padded,
            end = rounded(values, std::max(padded, static_cast<int>(hn::Lanes(hn::ScalableTag<A>()))));
  for (int i = values; i < end; ++i) z[i] = value;
  return end;
}
template <class A>
HWY_INLINE int step(int padded) {
  return std::max(padded, static_cast<int>(hn::Lanes(hn::ScalableTag<A>())));
}

// Lane numbers with one bit flipped, one row per bit. From memory that was written long ago: indices made on the spot
// would be stored by lane and loaded as a vector at once, which stalls.
template <class Index>
struct Flipped {
  static constexpr int kLanes = HWY_MAX_BYTES / static_cast<int>(sizeof(Index));
  alignas(64) Index lane[5][kLanes];
  constexpr Flipped() : lane() {
    for (int bit = 0; bit < 5; ++bit)
      for (int i = 0; i < kLanes; ++i) lane[bit][i] = static_cast<Index>((i ^ (1 << bit)) % kLanes);
  }
};
template <class Index>
inline constexpr Flipped<Index> kFlipped{};

// Lane i <- lane i ^ distance: meets the repeats of a head, which lie `padded`, 2 * padded, ... lanes apart.
template <class D, class Combine>
HWY_INLINE hn::Vec<D> over_repeats(D d, hn::Vec<D> v, int padded, Combine combine) {
  using Index = hn::TFromD<hn::RebindToSigned<D>>;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int bit = std::countr_zero(static_cast<unsigned>(padded)); (1 << bit) < lanes; ++bit)
    v = combine(v, hn::TableLookupLanes(v, hn::SetTableIndices(d, kFlipped<Index>.lane[bit])));
  return v;
}

// kPadded: the padded heads where the compiler may know them, else 0.
template <int kPadded, class A>
HWY_INLINE void gather_fixed(const A* table, const int32_t* col, int n, int64_t edges, int padded_heads, A* out) {
  constexpr int kDistance = 32;
  const int64_t padded = kPadded > 0 ? kPadded : padded_heads;
  const int fetched = static_cast<int>(std::clamp<int64_t>(edges - kDistance, 0, n));
  for (int k = 0; k < n; ++k) {
    if (k < fetched) hwy::Prefetch(table + col[k + kDistance] * padded);
    std::memcpy(out + k * padded, table + col[k] * padded, static_cast<size_t>(padded) * sizeof(A));
  }
}
template <class A>
void gather_heads(const A* table, const int32_t* col, int n, int64_t edges, int padded, A* out) {
  switch (padded) {
    case 1:
      return gather_fixed<1>(table, col, n, edges, padded, out);
    case 2:
      return gather_fixed<2>(table, col, n, edges, padded, out);
    case 4:
      return gather_fixed<4>(table, col, n, edges, padded, out);
    case 8:
      return gather_fixed<8>(table, col, n, edges, padded, out);
    default:
      return gather_fixed<0>(table, col, n, edges, padded, out);
  }
}
template <class A>
void repeat_heads(const A* row, int padded, A* lane) {
  const hn::ScalableTag<A> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (padded == 1) return hn::StoreU(hn::Set(d, *row), d, lane);
  if (padded >= lanes) {
    for (int i = 0; i < padded; i += lanes) hn::StoreU(hn::LoadU(d, row + i), d, lane + i);
    return;
  }
  for (int i = 0; i < lanes; ++i) lane[i] = row[i & (padded - 1)];
}

template <class A>
void leaky_logits(int n, int padded, const A* lane, A slope, A* z) {
  const hn::ScalableTag<A> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), period = step<A>(padded), end = rounded(n * padded, period);
  const auto bend = hn::Set(d, slope);
  for (int j = 0; j < period; j += lanes) {
    const auto own = hn::LoadU(d, lane + j);
    for (int i = j; i < end; i += period) {
      const auto t = hn::Add(hn::LoadU(d, z + i), own);
      hn::StoreU(hn::IfThenElse(hn::Gt(t, hn::Zero(d)), t, hn::Mul(t, bend)), d, z + i);
    }
  }
}

template <class A>
void softmax_begin(int padded, A* m, A* s) {
  const hn::ScalableTag<A> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), end = step<A>(padded);
  for (int j = 0; j < end; j += lanes) {
    hn::StoreU(hn::Set(d, -kInfinity<A>), d, m + j);
    hn::StoreU(hn::Zero(d), d, s + j);
  }
}

template <class A>
bool softmax_chunk(int n, int padded, A* z, A* m, A* s, A* scale) {
  const hn::ScalableTag<A> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), period = step<A>(padded);
  const int end = pad_chunk(n, padded, -kInfinity<A>, z);
  const auto lowest = hn::Set(d, -kInfinity<A>);
  bool grew = false;
  for (int j = 0; j < period; j += lanes) {
    const auto old = hn::LoadU(d, m + j);
    auto top = old;
    for (int i = j; i < end; i += period) top = hn::Max(top, hn::LoadU(d, z + i));
    top = over_repeats(d, top, padded, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
    // Heads that saw only -inf so far: shifting by 0 keeps their weights at exp(-inf) = 0 instead of exp(-inf + inf).
    const auto shift = hn::IfThenElse(hn::Eq(top, lowest), hn::Zero(d), top);
    auto sum = hn::LoadU(d, s + j);
    if (!hn::AllTrue(d, hn::Eq(top, old))) {
      grew = true;
      hn::StoreU(top, d, m + j);
    }
    if (hn::AllTrue(d, hn::Eq(old, lowest))) {  // the first chunk of the row: its sums are 0
      hn::StoreU(hn::Zero(d), d, scale + j);
    } else {
      const auto factor = exp_fast(d, hn::Sub(old, shift));
      hn::StoreU(factor, d, scale + j);
      sum = hn::Mul(sum, factor);
    }
    for (int i = j; i < end; i += period) {
      const auto p = exp_fast(d, hn::Sub(hn::LoadU(d, z + i), shift));
      hn::StoreU(p, d, z + i);
      sum = hn::Add(sum, p);
    }
    hn::StoreU(sum, d, s + j);
  }
  return grew;
}

template <class A>
void join_repeats(int padded, A* sum) {
  const hn::ScalableTag<A> d;
  if (padded >= static_cast<int>(hn::Lanes(d))) return;
  const auto v = over_repeats(d, hn::LoadU(d, sum), padded, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
  hn::StoreU(v, d, sum);
}

template <class A>
void softmax_finish(int padded, const A* m, A* s, A* inverse, A* lse) {
  const hn::ScalableTag<A> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), period = step<A>(padded);
  join_repeats(padded, s);
  for (int j = 0; j < period; j += lanes) {
    const auto sum = hn::LoadU(d, s + j);
    const auto empty = hn::Eq(sum, hn::Zero(d));
    const auto safe = hn::IfThenElse(empty, hn::Set(d, A{1}), sum);
    // sum - sum is 0, or NaN where the row holds one: neither the maximum nor the logarithm is sure to carry it.
    const auto log_sum = hn::Add(hn::Log(d, safe), hn::Sub(sum, sum));
    hn::StoreU(hn::IfThenZeroElse(empty, hn::Div(hn::Set(d, A{1}), safe)), d, inverse + j);
    hn::StoreU(hn::IfThenZeroElse(empty, hn::Add(hn::LoadU(d, m + j), log_sum)), d, lse + j);
  }
}

template <class A>
void softmax_apply(int n, int padded, const A* shift, const A* factor, A* z) {
  const hn::ScalableTag<A> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), period = step<A>(padded),
            end = pad_chunk(n, padded, -kInfinity<A>, z);
  for (int j = 0; j < period; j += lanes) {
    const auto by = hn::LoadU(d, shift + j), times = hn::LoadU(d, factor + j);
    for (int i = j; i < end; i += period)
      hn::StoreU(hn::Mul(exp_fast(d, hn::Sub(hn::LoadU(d, z + i), by)), times), d, z + i);
  }
}

template <bool kShared, class A>
HWY_INLINE void gradient(int n, int padded, const A* own, const A* lse, const A* delta, const A* mask, A slope, A* z,
                         A* dp, A* sum) {
  const hn::ScalableTag<A> d;
  const int lanes = static_cast<int>(hn::Lanes(d)), period = step<A>(padded), values = n * padded,
            whole = values / period * period;
  const auto bend = hn::Set(d, slope), one = hn::Set(d, A{1});
  const auto at_vector = [&](int i, int j, auto total, auto live) HWY_ATTR {
    const auto t = hn::Add(hn::LoadU(d, z + i), hn::LoadU(d, own + j));
    const auto rising = hn::Gt(t, hn::Zero(d));
    const auto bent = hn::IfThenElse(rising, t, hn::Mul(t, bend));
    const auto p = exp_fast(d, hn::Sub(bent, hn::LoadU(d, lse + (kShared ? j : i))));
    auto weight = p, dot = hn::LoadU(d, dp + i);
    if (mask != nullptr) {
      const auto factor = hn::LoadU(d, mask + i);
      weight = hn::Mul(weight, factor);
      dot = hn::Mul(dot, factor);
    }
    const auto raw = hn::Mul(p, hn::Sub(dot, hn::LoadU(d, delta + (kShared ? j : i))));
    const auto dz = hn::IfThenElseZero(live, hn::Mul(raw, hn::IfThenElse(rising, one, bend)));
    hn::StoreU(weight, d, z + i);
    hn::StoreU(dz, d, dp + i);
    return hn::Add(total, dz);
  };
  for (int j = 0; j < period; j += lanes) {
    auto total = hn::LoadU(d, sum + j);
    for (int i = j; i < whole; i += period) total = at_vector(i, j, total, hn::FirstN(d, static_cast<size_t>(lanes)));
    // The last vector of a row whose heads do not fill it: what lies behind its edges counts for nothing, NaN included.
    if (whole < values) total = at_vector(whole + j, j, total, hn::FirstN(d, static_cast<size_t>(values - whole)));
    hn::StoreU(total, d, sum + j);
  }
}
template <class A>
void softmax_gradient(bool shared, int n, int padded, const A* own, const A* lse, const A* delta, const A* mask,
                      A slope, A* z, A* dp, A* sum) {
  if (shared) return gradient<true>(n, padded, own, lse, delta, mask, slope, z, dp, sum);
  gradient<false>(n, padded, own, lse, delta, mask, slope, z, dp, sum);
}

template <class T>
void fill(EdgeOps<T>& ops) {
  using A = AccumulatorOf<T>;
  ops.gather_heads = &gather_heads<A>;
  ops.repeat_heads = &repeat_heads<A>;
  ops.leaky_logits = &leaky_logits<A>;
  ops.softmax_begin = &softmax_begin<A>;
  ops.softmax_chunk = &softmax_chunk<A>;
  ops.softmax_finish = &softmax_finish<A>;
  ops.softmax_apply = &softmax_apply<A>;
  ops.softmax_gradient = &softmax_gradient<A>;
  ops.join_repeats = &join_repeats<A>;
}
void FillEdgeSoftmax(EdgeOpsTables& tables) {
  fill(tables.f64);
  fill(tables.f32);
  fill(tables.bf16);
  fill(tables.f16);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
HWY_EXPORT(FillEdgeSoftmax);
void fill_edge_softmax(EdgeOpsTables& tables) { HWY_DYNAMIC_DISPATCH(FillEdgeSoftmax)(tables); }
}  // namespace pantile::sparse
#endif
