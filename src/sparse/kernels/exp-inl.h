// exp for softmax, per target.
#if defined(PANTILE_SPARSE_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PANTILE_SPARSE_EXP_INL_H
#undef PANTILE_SPARSE_EXP_INL_H
#else
#define PANTILE_SPARSE_EXP_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// exp(x) for x up to 88 (f32) or 709 (f64): x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial in r, then a product with
// 2^n. Error below 2 ulp. -inf and everything whose result would be subnormal give 0; NaN stays NaN. The f32 polynomial
// is the minimax fit of (exp(r) - 1 - r) / r^2 of degree 4 (3.1e-9 relative); f64 takes the Taylor series to r^13
// (4e-18).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_fast(D d, V x) {
  using A = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  constexpr bool kSingle = sizeof(A) == 4;
  const V log2e = hn::Set(d, static_cast<A>(1.44269504088896340736));
  const V ln2_high = hn::Set(d, kSingle ? static_cast<A>(0.693359375) : static_cast<A>(6.93145751953125e-1));
  const V ln2_low =
      hn::Set(d, kSingle ? static_cast<A>(-2.12194440054690583e-4) : static_cast<A>(1.42860682030941723212e-6));
  const V n = hn::Round(hn::Mul(x, log2e));
  const V r = hn::NegMulAdd(n, ln2_low, hn::NegMulAdd(n, ln2_high, x));
  V q;
  if constexpr (kSingle) {
    q = hn::Set(d, 0.0013814467238262296f);
    for (const float c : {0.008368780836462975f, 0.04166839271783829f, 0.1666651964187622f, 0.4999999403953552f})
      q = hn::MulAdd(q, r, hn::Set(d, c));
  } else {
    q = hn::Set(d, 1.0 / 6227020800.0);
    for (const double c : {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
                           1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5})
      q = hn::MulAdd(q, r, hn::Set(d, c));
  }
  const V value = hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), hn::Set(d, A{1}));
  constexpr int kMantissa = kSingle ? 23 : 52, kBias = kSingle ? 127 : 1023;
  const auto exponent = hn::Add(hn::ConvertTo(di, n), hn::Set(di, kBias));
  const V scaled = hn::Mul(value, hn::BitCast(d, hn::ShiftLeft<kMantissa>(exponent)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, kSingle ? static_cast<A>(-87.33) : static_cast<A>(-708.39))), scaled);
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
