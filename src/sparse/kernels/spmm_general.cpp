// SpMM, sum and mean with weights that the fast path does not know: per head, permuted, scaled by column.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/spmm_general.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  constexpr bool kFloat = std::is_same_v<T, float>;  // the others are rare: narrower panels, less code
  if (a.heads > 1)
    return run_units < Sum, StoreEither<T>, T, Weights<T>::template Heads, kFloat ? 4 : 2 > (a, first, last);
  run_units<Sum, StoreEither<T>, T, Weights<T>::template Scaled, kFloat ? kPanel : 2>(a, first, last);
}
template <class T>
void fold_of(const SpmmArgs& a) {
  fold_hubs<Sum, StoreEither<T>, T>(a);
}

void SpmmGeneralUnits(const SpmmArgs& a, int64_t first, int64_t last) {
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

void SpmmGeneralFold(const SpmmArgs& a) {
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
HWY_EXPORT(SpmmGeneralUnits);
HWY_EXPORT(SpmmGeneralFold);
}  // namespace

SpmmKernel sum_general_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(SpmmGeneralUnits)(a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(SpmmGeneralFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
