// Dots of gathered rows, per head (see edge_chunk.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/edge_dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sparse/kernels/dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

// What one dot adds up: the terms of features f, f + 1, ... of edge k, a whole vector or its first n lanes.
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
template <class T>
struct PairTerms {
  Rows<T> lhs, rhs;
  template <class D>
  HWY_INLINE hn::Vec<D> add(D d, int k, int f, hn::Vec<D> sum) const {
    return hn::MulAdd(load(d, lhs[k] + f), load(d, rhs[k] + f), sum);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> add_partial(D d, int k, int f, size_t n, hn::Vec<D> sum) const {
    return hn::MulAdd(load_partial(d, lhs[k] + f, n), load_partial(d, rhs[k] + f, n), sum);
  }
};
template <class T>
void dot_rows(const AccumulatorOf<T>* own, Rows<T> rows, int n, Heads shape, AccumulatorOf<T>* out,
              const Ahead& ahead) {
  dots_of<true, T>(OwnTerms<T>{own, rows}, n, shape, out, ahead);
}
template <class T>
void dot_pairs(Rows<T> lhs, Rows<T> rhs, int n, Heads shape, AccumulatorOf<T>* out, const Ahead& ahead) {
  dots_of<false, T>(PairTerms<T>{lhs, rhs}, n, shape, out, ahead);
}
template <class T>
void fill(EdgeOps<T>& ops) {
  ops.dot_rows = &dot_rows<T>;
  ops.dot_pairs = &dot_pairs<T>;
}
void FillEdgeDot(EdgeOpsTables& tables) {
  fill(tables.f64);
  fill(tables.f32);
  fill(tables.bf16);
  fill(tables.f16);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
HWY_EXPORT(FillEdgeDot);
void fill_edge_dot(EdgeOpsTables& tables) { HWY_DYNAMIC_DISPATCH(FillEdgeDot)(tables); }
}  // namespace pantile::sparse
#endif
