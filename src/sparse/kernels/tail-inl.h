// Loads and stores of whole and partial vectors, the same for every storage type: float and double as they are, bf16
// and f16 promoted to float on load and rounded to nearest even on store. Included once per target by each kernel file.
#if defined(PANTILE_SPARSE_TAIL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PANTILE_SPARSE_TAIL_INL_H
#undef PANTILE_SPARSE_TAIL_INL_H
#else
#define PANTILE_SPARSE_TAIL_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <pantile/core/dtype.h>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The type in which values of storage type T are summed, its widest vector, and that vector's tag.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
using Tag = hn::ScalableTag<Accumulator<T>>;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const BFloat16* p) {
  const hn::Rebind<uint16_t, D> half;
  const hn::RebindToUnsigned<D> whole;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(whole, hn::LoadU(half, reinterpret_cast<const uint16_t*>(p)))));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const Float16* p) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(p)));
#else  // the software promotion of other targets does not know infinities and NaN
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = to_float(p[i]);
  return hn::Load(d, lanes);
#endif
}

/// The first n < Lanes(d) lanes; the others are zero. Never touches p[n] or what lies behind it.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_partial([[maybe_unused]] D d, const T* p, size_t n) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (std::is_same_v<T, hn::TFromD<D>>) return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#endif
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(lanes, p, n * sizeof(T));
  return load(d, lanes);
}

template <class D>
HWY_INLINE void store(D d, hn::Vec<D> v, hn::TFromD<D>* p) {
  hn::StoreU(v, d, p);
}
/// The bits of v rounded to bf16 in the upper half of each lane; the lower half is what it happens to be.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> round_to_upper(D, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> u32;
  const auto bits = hn::BitCast(u32, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(u32, 0x7fff)), odd);
  const auto quiet = hn::Or(bits, hn::Set(u32, 0x400000));  // rounding would turn some NaN into infinity
  return hn::IfThenElse(hn::RebindMask(u32, hn::IsNaN(v)), quiet, rounded);
}
template <class D>
HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> v, BFloat16* p) {
  const hn::RebindToSigned<D> i32;
  const hn::Rebind<uint16_t, D> u16;
  const auto upper = hn::ShiftRight<16>(round_to_upper(d, v));
  hn::StoreU(hn::DemoteTo(u16, hn::BitCast(i32, upper)), u16, reinterpret_cast<uint16_t*>(p));
}

/// Twice Lanes(d) elements as their even and their odd ones, and back.
template <class D>
HWY_INLINE void load_pair([[maybe_unused]] D d, const BFloat16* p, hn::Vec<D>& even, hn::Vec<D>& odd) {
  const hn::RebindToUnsigned<D> u32;
  const hn::Repartition<uint16_t, D> u16;
  const auto both = hn::BitCast(u32, hn::LoadU(u16, reinterpret_cast<const uint16_t*>(p)));
  even = hn::BitCast(d, hn::ShiftLeft<16>(both));
  odd = hn::BitCast(d, hn::And(both, hn::Set(u32, 0xffff0000u)));
}
template <class D>
HWY_INLINE void store_pair([[maybe_unused]] D d, hn::Vec<D> even, hn::Vec<D> odd, BFloat16* p) {
  const hn::RebindToUnsigned<D> u32;
  const hn::Repartition<uint16_t, D> u16;
  const auto low = hn::ShiftRight<16>(round_to_upper(d, even));
  const auto high = hn::And(round_to_upper(d, odd), hn::Set(u32, 0xffff0000u));
  hn::StoreU(hn::BitCast(u16, hn::Or(low, high)), u16, reinterpret_cast<uint16_t*>(p));
}

template <class D>
HWY_INLINE void store([[maybe_unused]] D d, hn::Vec<D> v, Float16* p) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Rebind<hwy::float16_t, D> half;
  hn::StoreU(hn::DemoteTo(half, v), half, reinterpret_cast<hwy::float16_t*>(p));
#else
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) p[i] = to_float16(lanes[i]);
#endif
}

/// The first n < Lanes(d) lanes, through the stack: masked stores are slow on AMD, and this happens once per row.
template <class D, class T>
HWY_INLINE void store_partial(D d, hn::Vec<D> v, T* p, size_t n) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(float)];
  store(d, v, lanes);
  std::memcpy(p, lanes, n * sizeof(T));
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
