// The gather roofline: SpMM without everything that is not the gather.
#include "sparse/kernels/roofline.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/roofline.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

/// The edges [b, e) of the index stream; panel by panel in blocks of 512 edges, as SpMM's units are.
template <class T>
struct RooflineBody {
  const SpmmArgs& a;
  int64_t b, e;
  double sum = 0;
  template <int NV, bool kPartial>
  HWY_INLINE void operator()(const Place& p) {
    sum += run<NV, kPartial>(a, p, b, e);
  }
  template <int NV, bool kPartial>
  static HWY_NOINLINE double run(const SpmmArgs& a, const Place& p, int64_t b, int64_t e) {
    hn::Vec<Tag<T>> acc[NV];
    const int64_t ahead = std::min(b + a.prefetch, a.csr.edges() - (e - b));
    gather<Sum, NV, kPartial, false, false>(static_cast<const T*>(a.x) + p.first, static_cast<size_t>(a.x_stride), p,
                                            NoWeight<T>(a, p), a.csr.col, a.csr.col + ahead, b, e, acc);
    double sum = 0;
    for (int j = 0; j < NV; ++j) sum += static_cast<double>(hn::GetLane(acc[j]));
    return sum;
  }
};

template <class T>
double roofline_of(const SpmmArgs& a, int64_t first, int64_t last) {
  const int64_t block = a.width * static_cast<int64_t>(sizeof(Accumulator<T>)) <=
                                kPanel * static_cast<int64_t>(hn::Lanes(Tag<T>()) * sizeof(Accumulator<T>))
                            ? last - first
                            : 512;
  double sum = 0;
  for (int64_t b = first; b < last; b += block) {
    RooflineBody<T> body{a, b, std::min(last, b + block)};
    for_panels<kPanel>(Tag<T>(), static_cast<size_t>(a.width), body);
    sum += body.sum;
  }
  return sum;
}

double Roofline(const SpmmArgs& a, int64_t first, int64_t last) {
  return a.dtype == DType::f32 ? roofline_of<float>(a, first, last) : roofline_of<BFloat16>(a, first, last);
}

}  // namespace
}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <pantile/core/thread_pool.h>

#include <vector>

#include "sparse/operands.h"

namespace pantile::sparse {
namespace {
HWY_EXPORT(Roofline);
}  // namespace

Result<double> gather_roofline(const Csr& csr, ConstMatrix x) {
  PANTILE_CHECK(check_matrix("x", x, csr.cols, x.cols));
  if (x.dtype != DType::f32 && x.dtype != DType::bf16)
    return fail(ErrorCode::invalid_argument, "the gather roofline is measured on float32 or bfloat16 features");
  if (csr.edges() == 0 || x.cols == 0) return 0.0;
  SpmmArgs a;
  a.csr = csr;
  a.dtype = x.dtype;
  a.x = x.data;
  a.x_stride = x.row_stride;
  a.width = x.cols;
  a.prefetch = prefetch_distance(x.cols, x.dtype);
  const int shares = num_threads();
  std::vector<double> sums(static_cast<size_t>(shares));
  run_shares(shares, [&](int s) {
    const int64_t first = csr.edges() * s / shares, last = csr.edges() * (s + 1) / shares;
    if (first < last) sums[static_cast<size_t>(s)] = HWY_DYNAMIC_DISPATCH(Roofline)(a, first, last);
  });
  double sum = 0;
  for (const double v : sums) sum += v;
  return sum;
}
}  // namespace pantile::sparse
#endif
