// Weights of heads spread over the lanes of feature vectors, per target.
#if defined(PANTILE_SPARSE_HEADS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PANTILE_SPARSE_HEADS_INL_H
#undef PANTILE_SPARSE_HEADS_INL_H
#else
#define PANTILE_SPARSE_HEADS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "sparse/kernels/edge_chunk.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The weights of the lanes of one feature vector, from the weights of an edge's heads.
template <class D, bool kBroadcast>
struct HeadWeights {
  using A = hn::TFromD<D>;
  using Table = decltype(hn::SetTableIndices(D(), static_cast<const typename HeadMap<A>::Index*>(nullptr)));
  int first;
  Table index;
  HWY_INLINE void set(D d, const HeadMap<A>& map, int vector) {
    first = map.first[static_cast<size_t>(vector)];
    if constexpr (!kBroadcast)
      index = hn::SetTableIndices(d, map.index.data() + static_cast<size_t>(vector) * hn::Lanes(d));
  }
  HWY_INLINE hn::Vec<D> get(D d, const A* w) const {
    if constexpr (kBroadcast) return hn::Set(d, w[first]);
    return hn::TableLookupLanes(hn::LoadU(d, w + first), index);
  }
};

// Calls each(vector, first feature, lanes that count) for the vectors of a row.
template <class D, class F>
HWY_INLINE void each_vector(D d, int features, F each) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int f = 0, vector = 0; f < features; f += lanes, ++vector)
    each(vector, f, static_cast<size_t>(std::min(lanes, features - f)));
}
template <class D, class A>
HWY_INLINE hn::Vec<D> weights_of(D d, const A* w, const HeadMap<A>& map, int vector) {
  if (map.broadcast) {
    HeadWeights<D, true> weights;
    weights.set(d, map, vector);
    return weights.get(d, w);
  }
  HeadWeights<D, false> weights;
  weights.set(d, map, vector);
  return weights.get(d, w);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
