// SpMM, sum and mean of f32 features with one weight per edge or none: the path that most calls take.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/spmm_sum.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

template <class Finish>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  if (a.w == nullptr) return run_units<Sum, Finish, float, Weights<float>::None>(a, first, last);
  run_units<Sum, Finish, float, Weights<float>::Edge>(a, first, last);
}

void SpmmSumUnits(const SpmmArgs& a, int64_t first, int64_t last) {
  a.reduce == Reduce::mean ? units_of<StoreMean<float>>(a, first, last) : units_of<Store<float>>(a, first, last);
}

void SpmmSumFold(const SpmmArgs& a) {
  a.reduce == Reduce::mean ? fold_hubs<Sum, StoreMean<float>, float>(a) : fold_hubs<Sum, Store<float>, float>(a);
}

}  // namespace
}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
namespace {
HWY_EXPORT(SpmmSumUnits);
HWY_EXPORT(SpmmSumFold);
}  // namespace

SpmmKernel sum_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(SpmmSumUnits)
            (a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(SpmmSumFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
