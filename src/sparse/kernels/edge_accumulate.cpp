// Weighted sums of gathered rows, per head (see edge_chunk.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/edge_accumulate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sparse/kernels/edge_chunk.h"
#include "sparse/kernels/heads-inl.h"
#include "sparse/kernels/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

template <class A>
HeadMap<A> make_head_map(Heads shape) {
  const int lanes = static_cast<int>(hn::Lanes(hn::ScalableTag<A>())), features = shape.features();
  HeadMap<A> map;
  map.shape = shape;
  map.broadcast = shape.heads == 1 || shape.dim % lanes == 0;
  for (int f = 0; f < features; f += lanes) {
    const int first = f / shape.dim;
    map.first.push_back(first);
    if (map.broadcast) continue;
    // A vector of features spans at most `lanes` heads, so the values from its first head on hold every weight it
    // needs.
    for (int lane = 0; lane < lanes; ++lane) {
      const int head = std::min((f + lane) / shape.dim, shape.heads - 1);
      map.index.push_back(static_cast<typename HeadMap<A>::Index>(head - first));
    }
  }
  return map;
}

// Vectors [vector, vector + kVectors) of the sum stay in registers over the chunk. rest != 0: only `rest` lanes of the
// (only) vector.
template <int kVectors, bool kBroadcast, bool kPartial, class T>
HWY_INLINE void panel(Rows<T> rows, int n, const AccumulatorOf<T>* w, const HeadMap<AccumulatorOf<T>>& map, bool fresh,
                      int vector, size_t rest, AccumulatorOf<T>* sum, const Ahead& ahead) {
  using A = AccumulatorOf<T>;
  using D = hn::ScalableTag<A>;
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d)), f0 = vector * lanes, stride = map.shape.padded;
  hn::Vec<D> acc[kVectors];
  HeadWeights<D, kBroadcast> weights[kVectors];
  for (int j = 0; j < kVectors; ++j) {
    acc[j] = fresh ? hn::Zero(d) : hn::LoadU(d, sum + f0 + j * lanes);
    weights[j].set(d, map, vector + j);
  }
  const char* next = ahead.base == nullptr ? nullptr : ahead.base + f0 * static_cast<int64_t>(sizeof(T));
  const int64_t fetched = next == nullptr ? 0 : std::min<int64_t>(n, ahead.edges - ahead.distance);
  for (int k = 0; k < n; ++k) {
    if (k < fetched) {
      const char* row = next + ahead.col[k + ahead.distance] * ahead.stride_bytes;
      for (int at = 0; at < kVectors * lanes * static_cast<int>(sizeof(T)); at += 64) hwy::Prefetch(row + at);
    }
    const T* row = rows[k] + f0;
    const A* p = w + k * stride;
    for (int j = 0; j < kVectors; ++j) {
      const auto x = kPartial ? load_partial(d, row, rest) : load(d, row + j * lanes);
      acc[j] = hn::MulAdd(weights[j].get(d, p), x, acc[j]);
    }
  }
  for (int j = 0; j < kVectors; ++j) hn::StoreU(acc[j], d, sum + f0 + j * lanes);
}

template <bool kBroadcast, class T>
HWY_INLINE void add_panels(Rows<T> rows, int n, const AccumulatorOf<T>* w, const HeadMap<AccumulatorOf<T>>& map,
                           bool fresh, AccumulatorOf<T>* sum, const Ahead& ahead) {
  const int lanes = static_cast<int>(hn::Lanes(hn::ScalableTag<AccumulatorOf<T>>())), features = map.shape.features();
  const int whole = features / lanes;
  const size_t rest = static_cast<size_t>(features % lanes);
  int vector = 0;
  if constexpr (kBroadcast)  // with tables eight sums and eight tables would not fit sixteen registers
    for (; vector + 8 <= whole; vector += 8) panel<8, kBroadcast, false>(rows, n, w, map, fresh, vector, 0, sum, ahead);
  for (; vector + 4 <= whole; vector += 4) panel<4, kBroadcast, false>(rows, n, w, map, fresh, vector, 0, sum, ahead);
  for (; vector < whole; ++vector) panel<1, kBroadcast, false>(rows, n, w, map, fresh, vector, 0, sum, ahead);
  if (rest != 0) panel<1, kBroadcast, true>(rows, n, w, map, fresh, vector, rest, sum, ahead);
}

template <class T>
void add_weighted(Rows<T> rows, int n, const AccumulatorOf<T>* w, const HeadMap<AccumulatorOf<T>>& map, bool fresh,
                  AccumulatorOf<T>* sum, const Ahead& ahead) {
  if (map.broadcast) return add_panels<true>(rows, n, w, map, fresh, sum, ahead);
  add_panels<false>(rows, n, w, map, fresh, sum, ahead);
}

template <class A>
void scale_heads(const A* w, const HeadMap<A>& map, A* sum) {
  const hn::ScalableTag<A> d;
  each_vector(d, map.shape.features(), [&](int vector, int f, size_t) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, sum + f), weights_of(d, w, map, vector)), d, sum + f);
  });
}
template <class T>
void store_row(const AccumulatorOf<T>* sum, const AccumulatorOf<T>* w, const HeadMap<AccumulatorOf<T>>& map, T* out) {
  const hn::ScalableTag<AccumulatorOf<T>> d;
  each_vector(d, map.shape.features(), [&](int vector, int f, size_t n) HWY_ATTR {
    const auto v = hn::Mul(hn::LoadU(d, sum + f), weights_of(d, w, map, vector));
    if (n == hn::Lanes(d)) return store(d, v, out + f);
    store_partial(d, v, out + f, n);
  });
}
template <class T>
void store_values(const AccumulatorOf<T>* values, int count, T* out) {
  const hn::ScalableTag<AccumulatorOf<T>> d;
  each_vector(d, count, [&](int, int f, size_t n) HWY_ATTR {
    if (n == hn::Lanes(d)) return store(d, hn::LoadU(d, values + f), out + f);
    store_partial(d, hn::LoadU(d, values + f), out + f, n);
  });
}
template <class T>
void load_values(const T* values, int count, AccumulatorOf<T>* out) {
  const hn::ScalableTag<AccumulatorOf<T>> d;
  each_vector(d, count, [&](int, int f, size_t n) HWY_ATTR {
    hn::StoreU(n == hn::Lanes(d) ? load(d, values + f) : load_partial(d, values + f, n), d, out + f);
  });
}

template <class T>
void fill(EdgeOps<T>& ops) {
  using A = AccumulatorOf<T>;
  ops.make_head_map = &make_head_map<A>;
  ops.add_weighted = &add_weighted<T>;
  ops.scale_heads = &scale_heads<A>;
  ops.store_row = &store_row<T>;
  ops.store_values = &store_values<T>;
  ops.load_values = &load_values<T>;
}
void FillEdgeAccumulate(EdgeOpsTables& tables) {
  fill(tables.f64);
  fill(tables.f32);
  fill(tables.bf16);
  fill(tables.f16);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
HWY_EXPORT(FillEdgeAccumulate);
void fill_edge_accumulate(EdgeOpsTables& tables) { HWY_DYNAMIC_DISPATCH(FillEdgeAccumulate)(tables); }
}  // namespace pantile::sparse
#endif
