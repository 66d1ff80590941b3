// SDDMM's usual case: one dot product per edge between the row of its destination and the row of its source.
#include "sparse/kernels/sddmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/sddmm_dot.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

template <class T>
void dots_of_edges(const SddmmArgs& args, const SddmmOperand& dst, const SddmmOperand& src) {
  using A = AccumulatorOf<T>;
  const hn::ScalableTag<A> d;
  const int width = args.shape.features(), lanes = static_cast<int>(hn::Lanes(d)), whole = width - width % lanes,
            row_bytes = width * static_cast<int>(sizeof(T));
  const size_t rest = static_cast<size_t>(width % lanes);
  const int64_t stride = src.values.stride;
  const T* const x = static_cast<const T*>(src.values.data);
  const int32_t* const col = args.csr.col;
  const int64_t edges = args.csr.edges();
  const int distance = prefetch_distance(width);
  std::vector<A> promoted(static_cast<size_t>(width + kPad));
  HWY_ALIGN A sums[4];
  const auto write = [&](int64_t edge, int n) HWY_ATTR {
    for (int q = 0; q < n; ++q) {
      if (args.wide_out)
        *args.out.row<A>(edge + q) = sums[q];
      else if constexpr (std::is_same_v<T, BFloat16>)
        *args.out.row<T>(edge + q) = to_bfloat16(sums[q]);
      else if constexpr (std::is_same_v<T, Float16>)
        *args.out.row<T>(edge + q) = to_float16(sums[q]);
      else
        *args.out.row<T>(edge + q) = sums[q];
    }
  };
  const auto row = [&](int64_t i, int64_t edge, int64_t end) HWY_ATTR {
    if (edge == end) return;
    const A* own;
    if constexpr (std::is_same_v<A, T>) {
      own = dst.values.row<T>(i);
    } else {
      const T* stored = dst.values.row<T>(i);
      for (int f = 0; f < whole; f += lanes) hn::StoreU(load(d, stored + f), d, promoted.data() + f);
      if (rest != 0) hn::StoreU(load_partial(d, stored + whole, rest), d, promoted.data() + whole);
      own = promoted.data();
    }
    constexpr int kEach[4] = {0, 1, 2, 3}, kFirst[4] = {};
    for (; edge < end; edge += 4) {
      const int n = static_cast<int>(std::min<int64_t>(4, end - edge));
      int64_t at[4];
      for (int q = 0; q < 4; ++q) at[q] = col[edge + std::min(q, n - 1)] * stride;
      for (int q = 0; q < n; ++q) {
        const char* next = reinterpret_cast<const char*>(x + col[std::min(edge + q + distance, edges - 1)] * stride);
        for (int byte = 0; byte < row_bytes; byte += 64) hwy::Prefetch(next + byte);
      }
      const OwnTerms<T> terms{own, {x, at}};
      if (n >= 3)
        four_dots<4>(d, terms, kEach, kFirst, whole, rest, lanes, sums);
      else if (n == 2)
        four_dots<2>(d, terms, kEach, kFirst, whole, rest, lanes, sums);
      else
        four_dots<1>(d, terms, kEach, kFirst, whole, rest, lanes, sums);
      write(edge, n);
    }
  };
  for (const Unit& u : args.units) {
    if (u.slot >= 0) {
      row(u.row, u.edge, u.edge_end);
      continue;
    }
    for (int64_t i = u.row; i < u.row_end; ++i) row(i, args.csr.ptr[i], args.csr.ptr[i + 1]);
  }
}

void SddmmDot(const SddmmArgs& args, const SddmmOperand& dst, const SddmmOperand& src) {
  switch (args.dtype) {
    case DType::f64:
      return dots_of_edges<double>(args, dst, src);
    case DType::bf16:
      return dots_of_edges<BFloat16>(args, dst, src);
    case DType::f16:
      return dots_of_edges<Float16>(args, dst, src);
    default:
      return dots_of_edges<float>(args, dst, src);
  }
}

}  // namespace
}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pantile::sparse {
namespace {
HWY_EXPORT(SddmmDot);
}  // namespace

void sddmm_dot_units(const SddmmArgs& args, const SddmmOperand& dst, const SddmmOperand& src) {
  HWY_DYNAMIC_DISPATCH(SddmmDot)(args, dst, src);
}
}  // namespace pantile::sparse
#endif
