// Dots with the leaky sum of two or three rows, as in GATv2 (see edge_chunk.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/edge_dot_leaky.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sparse/kernels/dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

template <class T, bool kExtra>
struct LeakyTerms {
  using A = AccumulatorOf<T>;
  const A *own, *a;
  Rows<T> rows, extra;
  A slope;
  template <class D>
  HWY_INLINE hn::Vec<D> leaky_add(D d, hn::Vec<D> q, hn::Vec<D> weight, hn::Vec<D> sum) const {
    const auto bent = hn::IfThenElse(hn::Gt(q, hn::Zero(d)), q, hn::Mul(q, hn::Set(d, slope)));
    return hn::MulAdd(weight, bent, sum);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> add(D d, int k, int f, hn::Vec<D> sum) const {
    auto q = hn::Add(hn::LoadU(d, own + f), load(d, rows[k] + f));
    if constexpr (kExtra) q = hn::Add(q, load(d, extra[k] + f));
    return leaky_add(d, q, hn::LoadU(d, a + f), sum);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> add_partial(D d, int k, int f, size_t n, hn::Vec<D> sum) const {
    auto q = hn::Add(load_partial(d, own + f, n), load_partial(d, rows[k] + f, n));
    if constexpr (kExtra) q = hn::Add(q, load_partial(d, extra[k] + f, n));
    return leaky_add(d, q, load_partial(d, a + f, n), sum);
  }
};

template <class T>
void dot_leaky(const AccumulatorOf<T>* own, const AccumulatorOf<T>* a, Rows<T> rows, Rows<T> extra, int n, Heads shape,
               AccumulatorOf<T> slope, AccumulatorOf<T>* out, const Ahead& ahead) {
  if (extra.base == nullptr)
    return dots_of<false, T>(LeakyTerms<T, false>{own, a, rows, extra, slope}, n, shape, out, ahead);
  dots_of<false, T>(LeakyTerms<T, true>{own, a, rows, extra, slope}, n, shape, out, ahead);
}

template <class T>
void fill(EdgeOps<T>& ops) {
  ops.dot_leaky = &dot_leaky<T>;
}
void FillEdgeDotLeaky(EdgeOpsTables& tables) {
  fill(tables.f64);
  fill(tables.f32);
  fill(tables.bf16);
  fill(tables.f16);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
HWY_EXPORT(FillEdgeDotLeaky);
void fill_edge_dot_leaky(EdgeOpsTables& tables) { HWY_DYNAMIC_DISPATCH(FillEdgeDotLeaky)(tables); }
}  // namespace pantile::sparse
#endif
