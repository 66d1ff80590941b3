// Gradient of min and max to the features, in gather form: every source looks at the rows it feeds and takes what it
// won.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/spmm_arg_grad.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

/// Adds w * x only where the edge won (w != 0): a product with zero would let an infinity of a loser through.
struct SumOfWon : Sum {
  using Sum::step;
  template <class D, class V>
  static HWY_INLINE V step(D d, V acc, V w, V x) {
    return hn::Add(acc, hn::IfThenElseZero(hn::Ne(w, hn::Zero(d)), hn::Mul(w, x)));
  }
};

/// The edge's weight where it is the winner, else 0.
template <class T, int NV>
struct WinnerWeight {
  static constexpr bool kNone = false, kUniform = false;
  using A = Accumulator<T>;
  using D = Tag<T>;
  using V = hn::Vec<D>;
  using Signed = hn::RebindToSigned<D>;
  struct State {
    typename HeadWeight<T, NV>::State weight;
    const int64_t* winners;
    int64_t edge;
  };
  WinnerWeight(const SpmmArgs& a, const Place& p)
      : weight(a, p), place(p), winners(a.winners + p.first), width(static_cast<size_t>(a.width)) {}
  HWY_INLINE void fetch(int64_t t, size_t n) const { weight.fetch(t, n); }
  HWY_INLINE State at(int64_t t) const {
    State s{};
    if (weight.w != nullptr) s.weight = weight.at(t);
    s.winners = winners + static_cast<size_t>(weight.col[t]) * width;
    s.edge = weight.perm[t];
    return s;
  }
  HWY_INLINE V vector(const State& s, int j) const {
    const D d;
    const auto won =
        hn::Eq(lanes(s.winners + offset<NV, D>(place, j)), hn::Set(Signed(), static_cast<hn::TFromD<Signed>>(s.edge)));
    return hn::IfThenElseZero(hn::RebindMask(d, won),
                              weight.w == nullptr ? hn::Set(d, A{1}) : weight.vector(s.weight, j));
  }
  /// The positions at p. Lanes of 32 bits hold the low words: positions of one row differ in them, and so does -1.
  HWY_INLINE hn::Vec<Signed> lanes(const int64_t* p) const {
    const Signed d;
    HWY_ALIGN int64_t copy[HWY_MAX_BYTES / sizeof(A)] = {};
    if (place.count != 0) {
      std::memcpy(copy, p, place.count * sizeof(int64_t));
      p = copy;
    }
    if constexpr (sizeof(A) == 8) {
      return hn::LoadU(d, p);
    } else {
#if HWY_TARGET == HWY_SCALAR
      return hn::Set(d, static_cast<int32_t>(*p));
#else
      hn::Vec<Signed> low, high;
      hn::LoadInterleaved2(d, reinterpret_cast<const int32_t*>(p), low, high);
      return low;
#endif
    }
  }
  HeadWeight<T, NV> weight;
  Place place;
  const int64_t* winners;
  size_t width;
};
template <class T>
struct Winner {
  template <int NV>
  using Weight = WinnerWeight<T, NV>;
};

template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  run_units<SumOfWon, Store<T>, T, Winner<T>::template Weight, std::is_same_v<T, float> ? 4 : 2>(a, first, last);
}
template <class T>
void fold_of(const SpmmArgs& a) {
  fold_hubs<SumOfWon, Store<T>, T>(a);
}

void SpmmArgGradUnits(const SpmmArgs& a, int64_t first, int64_t last) {
  switch (a.dtype) {
    case DType::f32:
      return units_of<float>(a, first, last);
    case DType::f64:
      return units_of<double>(a, first, last);
    case DType::bf16:
      return units_of<BFloat16>(a, first, last);
    default:
      return units_of<Float16>(a, first, last);
  }
}

void SpmmArgGradFold(const SpmmArgs& a) {
  switch (a.dtype) {
    case DType::f32:
      return fold_of<float>(a);
    case DType::f64:
      return fold_of<double>(a);
    case DType::bf16:
      return fold_of<BFloat16>(a);
    default:
      return fold_of<Float16>(a);
  }
}

}  // namespace
}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
namespace {
HWY_EXPORT(SpmmArgGradUnits);
HWY_EXPORT(SpmmArgGradFold);
}  // namespace

SpmmKernel arg_grad_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(SpmmArgGradUnits)(a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(SpmmArgGradFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
