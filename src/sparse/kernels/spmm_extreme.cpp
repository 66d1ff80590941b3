// SpMM, min and max. Narrower panels than a sum's: an extreme needs more registers for its operands.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/spmm_extreme.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

// A minimum is the maximum of the negated values, negated: signs are exact, and one code serves both.
template <class T>
Accumulator<T> sign_of(const SpmmArgs& a) {
  return a.reduce == Reduce::max ? Accumulator<T>{1} : Accumulator<T>{-1};
}
template <class T>
struct Signed {
  template <int NV>
  struct Unit {
    static constexpr bool kNone = false, kUniform = true;
    using V = hn::Vec<Tag<T>>;
    Unit(const SpmmArgs& a, const Place&) : sign(hn::Set(Tag<T>(), sign_of<T>(a))) {}
    HWY_INLINE void fetch(int64_t, size_t) const {}
    HWY_INLINE V at(int64_t) const { return sign; }
    HWY_INLINE V vector(V state, int) const { return state; }
    V sign;
  };
  template <int NV>
  struct Heads : HeadWeight<T, NV> {
    using Base = HeadWeight<T, NV>;
    Heads(const SpmmArgs& a, const Place& p) : Base(a, p), sign(hn::Set(Tag<T>(), sign_of<T>(a))) {}
    HWY_INLINE typename Base::State at(int64_t k) const {
      typename Base::State s = Base::at(k);
      s.row = hn::Mul(s.row, sign);
      s.scale = hn::Mul(s.scale, sign);
      return s;
    }
    typename Base::V sign;
  };
  struct Finish : Store<T> {
    using V = typename Store<T>::V;
    Finish(const SpmmArgs& a, const Place& p) : Store<T>(a, p), sign(sign_of<T>(a)) {}
    HWY_INLINE V row(int64_t, int64_t degree) const {
      return hn::Set(Tag<T>(), degree == 0 ? Accumulator<T>{1} : sign);
    }
    template <int NV, bool kPartial>
    HWY_INLINE void finish(const Place&, V factor, V* acc) const {
      for (int j = 0; j < NV; ++j) acc[j] = hn::Mul(acc[j], factor);
    }
    Accumulator<T> sign;
  };
};

template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  using Finish = typename Signed<T>::Finish;
  constexpr int kMax = std::is_same_v<T, float> ? 4 : 2;
  if (a.w == nullptr) return run_units<Extreme<true>, Finish, T, Signed<T>::template Unit, kMax>(a, first, last);
  run_units<Extreme<true>, Finish, T, Signed<T>::template Heads, 2>(a, first, last);
}
template <class T>
void fold_of(const SpmmArgs& a) {
  fold_hubs<Extreme<true>, typename Signed<T>::Finish, T>(a);
}

void SpmmExtremeUnits(const SpmmArgs& a, int64_t first, int64_t last) {
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

void SpmmExtremeFold(const SpmmArgs& a) {
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
HWY_EXPORT(SpmmExtremeUnits);
HWY_EXPORT(SpmmExtremeFold);
}  // namespace

SpmmKernel extreme_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(SpmmExtremeUnits)(a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(SpmmExtremeFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
