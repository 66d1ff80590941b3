// SpMM, min and max. Narrower panels than a sum's: an extreme needs more registers for its operands.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/spmm_extreme.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

template <class Op, class T>
void units_with(const SpmmArgs& a, int64_t first, int64_t last) {
  if (a.w == nullptr)
    return run_units < Op, Store<T>, T, Weights<T>::template None, std::is_same_v<T, float> ? 4 : 2 > (a, first, last);
  run_units<Op, Store<T>, T, Weights<T>::template Heads, 2>(a, first, last);
}
template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  a.reduce == Reduce::max ? units_with<Extreme<true>, T>(a, first, last)
                          : units_with<Extreme<false>, T>(a, first, last);
}
template <class T>
void fold_of(const SpmmArgs& a) {
  a.reduce == Reduce::max ? fold_hubs<Extreme<true>, Store<T>, T>(a) : fold_hubs<Extreme<false>, Store<T>, T>(a);
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
