// SpMM, sum and mean of f64, bf16 and f16 features with one weight per edge or none.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/spmm_sum_storage.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  constexpr int kMax = std::is_same_v<T, BFloat16> ? kPanel : 4;  // the others are rarer: narrower panels, less code
  if (a.w == nullptr) return run_units<Sum, StoreEither<T>, T, Weights<T>::template None, kMax>(a, first, last);
  run_units<Sum, StoreEither<T>, T, Weights<T>::template Edge, kMax>(a, first, last);
}
template <class T>
void fold_of(const SpmmArgs& a) {
  fold_hubs<Sum, StoreEither<T>, T>(a);
}

void SpmmSumStorageUnits(const SpmmArgs& a, int64_t first, int64_t last) {
  switch (a.dtype) {
    case DType::f64:
      return units_of<double>(a, first, last);
    case DType::bf16:
      return units_of<BFloat16>(a, first, last);
    default:
      return units_of<Float16>(a, first, last);
  }
}

void SpmmSumStorageFold(const SpmmArgs& a) {
  switch (a.dtype) {
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
HWY_EXPORT(SpmmSumStorageUnits);
HWY_EXPORT(SpmmSumStorageFold);
}  // namespace

SpmmKernel sum_storage_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(SpmmSumStorageUnits)(a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(SpmmSumStorageFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
