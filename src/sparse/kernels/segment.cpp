// Reductions over segments of consecutive rows, or of rows named by perm (64-bit: segments may be longer than any graph
// is wide).
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/segment.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

template <class Op, class T>
struct SegmentBody {
  const SpmmArgs& a;
  const Unit& u;
  template <int NV, bool kPartial>
  HWY_INLINE void operator()(const Place& p) {
    run<NV, kPartial>(a, u, p);
  }
  template <int NV, bool kPartial>
  static HWY_INLINE void reduce(const SpmmArgs& a, const Place& p, int64_t b, int64_t e, hn::Vec<Tag<T>>* acc) {
    const Tag<T> d;
    const T* const x = static_cast<const T*>(a.x) + p.first;
    for (int j = 0; j < NV; ++j) acc[j] = Op::start(d);
    for (int64_t k = b; k < e; ++k) {
      const T* row = x + static_cast<size_t>(a.perm == nullptr ? k : a.perm[k]) * static_cast<size_t>(a.x_stride);
      for (int j = 0; j < NV; ++j)
        acc[j] = Op::step(d, acc[j], load_lanes<kPartial>(d, row + offset<NV, Tag<T>>(p, j), p.count));
    }
  }
  template <int NV, bool kPartial>
  static HWY_NOINLINE void run(const SpmmArgs& a, const Unit& u, const Place p) {
    const Tag<T> d;
    const StoreEither<T> finish(a, p);
    hn::Vec<Tag<T>> acc[NV];
    if (u.slot >= 0) {
      reduce<NV, kPartial>(a, p, u.edge, u.edge_end, acc);
      auto* part =
          static_cast<Accumulator<T>*>(a.part) + static_cast<size_t>(u.slot) * static_cast<size_t>(a.width) + p.first;
      for (int j = 0; j < NV; ++j) store_lanes<kPartial>(d, acc[j], part + offset<NV, Tag<T>>(p, j), p.count);
      return;
    }
    for (int64_t i = u.row; i < u.row_end; ++i) {
      const int64_t b = a.csr.ptr[i], e = a.csr.ptr[i + 1];
      reduce<NV, kPartial>(a, p, b, e, acc);
      if (b == e)
        for (int j = 0; j < NV; ++j) acc[j] = hn::Zero(d);
      finish_row<NV, kPartial>(finish, p, i, e - b, acc,
                               static_cast<T*>(a.y) + static_cast<size_t>(i) * static_cast<size_t>(a.y_stride));
    }
  }
};

template <class Op, class T>
void units_with(const SpmmArgs& a, int64_t first, int64_t last) {
  for (int64_t q = first; q < last; ++q) {
    SegmentBody<Op, T> body{a, a.schedule->units[static_cast<size_t>(q)]};
    for_panels<std::is_same_v<T, float> ? 4 : 2>(Tag<T>(), static_cast<size_t>(a.width), body);
  }
}
template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  if (a.reduce == Reduce::max) return units_with<Extreme<true>, T>(a, first, last);
  if (a.reduce == Reduce::min) return units_with<Extreme<false>, T>(a, first, last);
  units_with<Sum, T>(a, first, last);
}
template <class T>
void fold_of(const SpmmArgs& a) {
  if (a.reduce == Reduce::max) return fold_hubs<Extreme<true>, StoreEither<T>, T>(a);
  if (a.reduce == Reduce::min) return fold_hubs<Extreme<false>, StoreEither<T>, T>(a);
  fold_hubs<Sum, StoreEither<T>, T>(a);
}

void SegmentUnits(const SpmmArgs& a, int64_t first, int64_t last) {
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

void SegmentFold(const SpmmArgs& a) {
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
HWY_EXPORT(SegmentUnits);
HWY_EXPORT(SegmentFold);
}  // namespace

SpmmKernel segment_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(SegmentUnits)
            (a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(SegmentFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
