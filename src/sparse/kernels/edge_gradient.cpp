// Gradients that go to feature rows of edges and to what stands inside a leaky dot (see edge_chunk.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/edge_gradient.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sparse/kernels/edge_chunk.h"
#include "sparse/kernels/heads-inl.h"
#include "sparse/kernels/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* p, size_t n) {
  return n == hn::Lanes(d) ? load(d, p) : load_partial(d, p, n);
}
template <class D, class T>
HWY_INLINE void store_first(D d, hn::Vec<D> v, T* p, size_t n) {
  if (n == hn::Lanes(d)) return store(d, v, p);
  store_partial(d, v, p, n);
}

template <class T>
void leaky_gradient(const AccumulatorOf<T>* own, const AccumulatorOf<T>* a, Rows<T> rows, Rows<T> extra, int n,
                    const AccumulatorOf<T>* dz, const HeadMap<AccumulatorOf<T>>& map, AccumulatorOf<T> slope,
                    AccumulatorOf<T>* d_own, AccumulatorOf<T>* d_a, T* d_extra, const int64_t* d_extra_at) {
  const hn::ScalableTag<AccumulatorOf<T>> d;
  const auto bend = hn::Set(d, slope);
  each_vector(d, map.shape.features(), [&](int vector, int f, size_t count) HWY_ATTR {
    const auto mine = load_first(d, own + f, count), factor = load_first(d, a + f, count);
    auto sum = hn::LoadU(d, d_own + f), sum_a = d_a == nullptr ? hn::Zero(d) : hn::LoadU(d, d_a + f);
    for (int k = 0; k < n; ++k) {
      auto q = hn::Add(mine, load_first(d, rows[k] + f, count));
      if (extra.base != nullptr) q = hn::Add(q, load_first(d, extra[k] + f, count));
      const auto rising = hn::Gt(q, hn::Zero(d));
      const auto w = weights_of(d, dz + k * map.shape.padded, map, vector);
      const auto up = hn::Mul(w, factor);
      const auto dq = hn::IfThenElse(rising, up, hn::Mul(up, bend));
      sum = hn::Add(sum, dq);
      sum_a = hn::MulAdd(w, hn::IfThenElse(rising, q, hn::Mul(q, bend)), sum_a);
      if (d_extra != nullptr) store_first(d, dq, d_extra + d_extra_at[k] + f, count);
    }
    hn::StoreU(sum, d, d_own + f);
    if (d_a != nullptr) hn::StoreU(sum_a, d, d_a + f);
  });
}

template <class T>
void outer_rows(int n, const AccumulatorOf<T>* w1, const AccumulatorOf<T>* x1, const AccumulatorOf<T>* w2,
                const AccumulatorOf<T>* x2, const HeadMap<AccumulatorOf<T>>& map, T* out, const int64_t* at) {
  const hn::ScalableTag<AccumulatorOf<T>> d;
  each_vector(d, map.shape.features(), [&](int vector, int f, size_t count) HWY_ATTR {
    const auto a = load_first(d, x1 + f, count), b = load_first(d, x2 + f, count);
    for (int k = 0; k < n; ++k) {
      const auto first = hn::Mul(weights_of(d, w1 + k * map.shape.padded, map, vector), a);
      store_first(d, hn::MulAdd(weights_of(d, w2 + k * map.shape.padded, map, vector), b, first), out + at[k] + f,
                  count);
    }
  });
}

template <class T>
void fill(EdgeOps<T>& ops) {
  ops.leaky_gradient = &leaky_gradient<T>;
  ops.outer_rows = &outer_rows<T>;
}
void FillEdgeGradient(EdgeOpsTables& tables) {
  fill(tables.f64);
  fill(tables.f32);
  fill(tables.bf16);
  fill(tables.f16);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
HWY_EXPORT(FillEdgeGradient);
void fill_edge_gradient(EdgeOpsTables& tables) { HWY_DYNAMIC_DISPATCH(FillEdgeGradient)(tables); }
}  // namespace pantile::sparse
#endif
