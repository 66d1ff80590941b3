// The GCN layer: a weighted sum that begins with the bias and the self-loop and takes its activation before it is
// written.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/gcn.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <cmath>

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

/// act(v + self[i] * x[i] + bias), while the row is still in registers. Everything is copied from the arguments: what
/// lies behind a reference would be loaded again after every store to y.
template <class T>
struct GcnFinish {
  static constexpr bool kBegins = true;
  using A = Accumulator<T>;
  using V = hn::Vec<Tag<T>>;
  GcnFinish(const SpmmArgs& a, const Place&)
      : self(static_cast<const A*>(a.self)),
        bias(static_cast<const A*>(a.bias)),
        x(static_cast<const T*>(a.x)),
        stride(static_cast<size_t>(a.x_stride)),
        activation(a.activation),
        slope(static_cast<A>(a.slope)) {}
  HWY_INLINE void ahead(int64_t i, size_t first, size_t bytes) const {
    if (self == nullptr) return;
    const char* own = reinterpret_cast<const char*>(x + static_cast<size_t>(i) * stride + first);
    for (size_t byte = 0; byte < bytes; byte += 64) hwy::Prefetch(own + byte);
    asm volatile("");  // GCC 12 would delete a function that only prefetches
  }
  HWY_INLINE V row(int64_t, int64_t) const { return hn::Zero(Tag<T>()); }
  /// bias + self[i] * x[i]: what the sum over the edges starts from costs no pass of its own.
  template <int NV, bool kPartial>
  HWY_INLINE void begin(const Place& p, int64_t i, V* acc) const {
    const Tag<T> d;
    if (bias != nullptr) {
      for (int j = 0; j < NV; ++j) acc[j] = load_lanes<kPartial>(d, bias + p.first + offset<NV, Tag<T>>(p, j), p.count);
    } else {
      for (int j = 0; j < NV; ++j) acc[j] = hn::Zero(d);
    }
    if (self == nullptr) return;
    const V loop = hn::Set(d, self[i]);
    const T* own = x + static_cast<size_t>(i) * stride + p.first;
    for (int j = 0; j < NV; ++j)
      acc[j] = hn::MulAdd(loop, load_lanes<kPartial>(d, own + offset<NV, Tag<T>>(p, j), p.count), acc[j]);
  }
  /// NaN passes every activation: comparisons with it are false, and x86's maximum gives its second operand.
  template <int NV, bool kPartial>
  HWY_INLINE void finish(const Place&, V, V* acc) const {
    const Tag<T> d;
    if (activation == Activation::relu) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
      for (int j = 0; j < NV; ++j) acc[j] = hn::Max(hn::Zero(d), acc[j]);
#else
      for (int j = 0; j < NV; ++j) acc[j] = hn::IfThenZeroElse(hn::Lt(acc[j], hn::Zero(d)), acc[j]);
#endif
    } else if (activation != Activation::none) {
      for (int j = 0; j < NV; ++j)
        acc[j] = activation == Activation::elu ? elu(acc[j]) : leaky(acc[j], hn::Set(d, slope));
    }
  }
  static HWY_INLINE V leaky(V v, V slope) {
    return hn::IfThenElse(hn::Lt(v, hn::Zero(Tag<T>())), hn::Mul(v, slope), v);
  }
  /// By lane: an exponential for every target would double the code of the layer for an activation few use.
  static HWY_NOINLINE V elu(V v) {
    const Tag<T> d;
    HWY_ALIGN A lanes[HWY_MAX_BYTES / sizeof(A)];
    hn::Store(v, d, lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      if (lanes[i] < 0) lanes[i] = std::expm1(lanes[i]);
    return hn::Load(d, lanes);
  }
  const A *self, *bias;
  const T* x;
  size_t stride;
  Activation activation;
  A slope;
};

template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  if constexpr (std::is_same_v<T, float>) {
    if (a.perm == nullptr) return run_units<Sum, GcnFinish<T>, T, Weights<T>::template Edge>(a, first, last);
  }
  run_units<Sum, GcnFinish<T>, T, Weights<T>::template Scaled, std::is_same_v<T, float> ? kPanel : 2>(a, first, last);
}
template <class T>
void fold_of(const SpmmArgs& a) {
  fold_hubs<Sum, GcnFinish<T>, T>(a);
}

void GcnUnits(const SpmmArgs& a, int64_t first, int64_t last) {
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

void GcnFold(const SpmmArgs& a) {
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
HWY_EXPORT(GcnUnits);
HWY_EXPORT(GcnFold);
}  // namespace

SpmmKernel gcn_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(GcnUnits)
            (a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(GcnFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
