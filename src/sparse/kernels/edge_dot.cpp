// Dots of gathered rows, per head (see edge_chunk.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/edge_dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sparse/kernels/dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

// The terms of a dot between two rows that belong to the edge.
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
// Heads of exactly one vector: nothing to loop over, a row's products go straight into the transpose-add tree.
template <class T>
HWY_INLINE void dots_of_one_vector(const AccumulatorOf<T>* own, Rows<T> rows, int n, Heads shape, AccumulatorOf<T>* out,
                                   const Ahead& ahead) {
  const hn::ScalableTag<AccumulatorOf<T>> d;
  const int dim = static_cast<int>(hn::Lanes(d));
  const int64_t row_bytes = static_cast<int64_t>(shape.features()) * static_cast<int64_t>(sizeof(T));
  for (int k = 0; k < n; ++k) {
    fetch_row(ahead, k, row_bytes);
    const T* row = rows[k];
    AccumulatorOf<T>* to = out + k * shape.padded;
    for (int h = 0; h < shape.heads; h += 4) {
      const AccumulatorOf<T>* u = own + h * dim;
      const T* x = row + h * dim;
      store_sums(d, hn::Mul(hn::LoadU(d, u), load(d, x)), hn::Mul(hn::LoadU(d, u + dim), load(d, x + dim)),
                 hn::Mul(hn::LoadU(d, u + 2 * dim), load(d, x + 2 * dim)),
                 hn::Mul(hn::LoadU(d, u + 3 * dim), load(d, x + 3 * dim)), to + h);
    }
  }
}

template <class T>
void dot_rows(const AccumulatorOf<T>* own, Rows<T> rows, int n, Heads shape, AccumulatorOf<T>* out,
              const Ahead& ahead) {
  if (shape.heads % 4 == 0 && shape.dim == static_cast<int>(hn::Lanes(hn::ScalableTag<AccumulatorOf<T>>())))
    return dots_of_one_vector<T>(own, rows, n, shape, out, ahead);
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
