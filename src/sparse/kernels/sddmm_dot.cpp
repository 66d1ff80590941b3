// SDDMM's usual case: one dot product per edge between the row of its destination and the row of its source.
#include "sparse/kernels/sddmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/sddmm_dot.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "sparse/kernels/dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

/// Writes out[0 .. n), n <= 4: the dots of `own` with n rows, in the order and the tree of a full group of four, so
/// that a dot does not depend on its place. Values of own that the features share a vector with are loaded once for
/// the group.
template <int n, class T>
HWY_INLINE void group(const AccumulatorOf<T>* HWY_RESTRICT own, const T* const* rows, size_t whole, size_t rest,
                      AccumulatorOf<T>* HWY_RESTRICT out) {
  const hn::ScalableTag<AccumulatorOf<T>> d;
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (size_t f = 0; f < whole; f += hn::Lanes(d)) {
    const auto u = hn::LoadU(d, own + f);
    s0 = hn::MulAdd(u, load(d, rows[0] + f), s0);
    if constexpr (n > 1) s1 = hn::MulAdd(u, load(d, rows[1] + f), s1);
    if constexpr (n > 2) s2 = hn::MulAdd(u, load(d, rows[2] + f), s2);
    if constexpr (n > 3) s3 = hn::MulAdd(u, load(d, rows[3] + f), s3);
  }
  if (rest != 0) {
    const auto u = load_partial(d, own + whole, rest);
    s0 = hn::MulAdd(u, load_partial(d, rows[0] + whole, rest), s0);
    if constexpr (n > 1) s1 = hn::MulAdd(u, load_partial(d, rows[1] + whole, rest), s1);
    if constexpr (n > 2) s2 = hn::MulAdd(u, load_partial(d, rows[2] + whole, rest), s2);
    if constexpr (n > 3) s3 = hn::MulAdd(u, load_partial(d, rows[3] + whole, rest), s3);
  }
  store_sums(d, s0, s1, s2, s3, out);
}

template <class T>
void dots_of_edges(const SddmmArgs& args, const SddmmOperand& dst, const SddmmOperand& src) {
  using A = AccumulatorOf<T>;
  const hn::ScalableTag<A> d;
  const size_t width = static_cast<size_t>(args.shape.features()), rest = width % hn::Lanes(d), whole = width - rest,
               stride = static_cast<size_t>(src.values.stride);
  const T* const x = static_cast<const T*>(src.values.data);
  const int32_t* const col = args.csr.col;
  const int64_t edges = args.csr.edges();
  const int distance = prefetch_distance(args.shape.features());
  std::vector<A> promoted(width + kPad);
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
      for (size_t f = 0; f < whole; f += hn::Lanes(d)) hn::StoreU(load(d, stored + f), d, promoted.data() + f);
      if (rest != 0) hn::StoreU(load_partial(d, stored + whole, rest), d, promoted.data() + whole);
      own = promoted.data();
    }
    for (; edge < end; edge += 4) {
      const int n = static_cast<int>(std::min<int64_t>(4, end - edge));
      const T* rows[4];
      for (int q = 0; q < n; ++q) {
        rows[q] = x + static_cast<size_t>(col[edge + q]) * stride;
        const char* next = reinterpret_cast<const char*>(
            x + static_cast<size_t>(col[std::min(edge + q + distance, edges - 1)]) * stride);
        for (size_t byte = 0; byte < width * sizeof(T); byte += 64) hwy::Prefetch(next + byte);
      }
      switch (n) {
        case 4:
          group<4>(own, rows, whole, rest, sums);
          break;
        case 3:
          group<3>(own, rows, whole, rest, sums);
          break;
        case 2:
          group<2>(own, rows, whole, rest, sums);
          break;
        default:
          group<1>(own, rows, whole, rest, sums);
      }
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
