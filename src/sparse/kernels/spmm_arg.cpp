// SpMM, min and max with the position of the edge that won: the first of equals, the first NaN.
#include "sparse/kernels/spmm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sparse/kernels/spmm_arg.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <cmath>

#include "sparse/kernels/gather-inl.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {
namespace {

/// Best values and, as lanes of the same width, the edges that hold them, counted from the start of the row or segment.
template <int NV, bool kPartial, class T>
HWY_NOINLINE void run_arg_panel(const SpmmArgs& a, const Unit& u, const Place p) {
  using A = Accumulator<T>;
  using W = HeadWeight<T, NV>;
  const Tag<T> d;
  const hn::RebindToSigned<Tag<T>> di;
  using Index = hn::TFromD<decltype(di)>;
  const W w(a, p);
  const T* const x = static_cast<const T*>(a.x) + p.first;
  const size_t x_stride = static_cast<size_t>(a.x_stride), y_stride = static_cast<size_t>(a.y_stride),
               width = static_cast<size_t>(a.width);
  const int64_t edges = a.csr.ptr[a.csr.rows];
  const auto flip = a.reduce == Reduce::max ? hn::Zero(d) : hn::SignBit(d);  // min is the max of the negated
  hn::Vec<Tag<T>> best[NV];
  hn::Vec<decltype(di)> at[NV];

  const auto value = [&](int64_t k, const typename W::State& state, int j) HWY_ATTR {
    const T* row = x + static_cast<size_t>(a.csr.col[k]) * x_stride;
    auto v = load_lanes<kPartial>(d, row + offset<NV, Tag<T>>(p, j), p.count);
    if (w.w != nullptr) v = hn::Mul(v, w.vector(state, j));
    return hn::Xor(v, flip);
  };
  const auto search = [&](int64_t b, int64_t e) HWY_ATTR {
    typename W::State state{};
    if (w.w != nullptr) state = w.at(b);
    for (int j = 0; j < NV; ++j) {
      best[j] = value(b, state, j);
      at[j] = hn::Zero(di);
    }
    for (int64_t k = b + 1; k < e; ++k) {
      const char* next = reinterpret_cast<const char*>(
          x + static_cast<size_t>(a.csr.col[std::min(k + a.prefetch, edges - 1)]) * x_stride);
      for (size_t byte = 0; byte < NV * hn::Lanes(d) * sizeof(T); byte += 64) hwy::Prefetch(next + byte);
      if (w.w != nullptr) state = w.at(k);
      for (int j = 0; j < NV; ++j) {
        const auto v = value(k, state, j);
        const auto better = hn::Or(hn::Gt(v, best[j]), hn::AndNot(hn::IsNaN(best[j]), hn::IsNaN(v)));
        best[j] = hn::IfThenElse(better, v, best[j]);
        at[j] = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, static_cast<Index>(k - b)), at[j]);
      }
    }
  };
  const auto write = [&](int64_t b, auto* y, int64_t* arg) HWY_ATTR {
    HWY_ALIGN Index edge[HWY_MAX_BYTES / sizeof(A)];
    for (int j = 0; j < NV; ++j) {
      const size_t f = p.first + offset<NV, Tag<T>>(p, j);
      store_lanes<kPartial>(d, hn::Xor(best[j], flip), y + f, p.count);
      hn::Store(at[j], di, edge);
      for (size_t i = 0; i < (kPartial ? p.count : hn::Lanes(d)); ++i) arg[f + i] = b + edge[i];
    }
  };

  if (u.slot >= 0) {
    search(u.edge, u.edge_end);
    const size_t at_slot = static_cast<size_t>(u.slot) * width;
    return write(u.edge, static_cast<A*>(a.part) + at_slot, a.part_arg + at_slot);
  }
  const int32_t* const order = a.schedule->order.data();
  for (int64_t s = u.row; s < u.row_end; ++s) {
    const int64_t i = order[s], b = a.csr.ptr[i], e = a.csr.ptr[i + 1];
    T* const y = static_cast<T*>(a.y) + static_cast<size_t>(i) * y_stride;
    int64_t* const arg = a.arg + static_cast<size_t>(i) * width;
    if (b < e) {
      search(b, e);
      write(b, y, arg);
      continue;
    }
    for (int j = 0; j < NV; ++j) {
      best[j] = flip;  // comes out as 0
      at[j] = hn::Zero(di);
    }
    write(-1, y, arg);
  }
}

template <class T>
struct ArgBody {
  const SpmmArgs& a;
  const Unit& u;
  template <int NV, bool kPartial>
  HWY_INLINE void operator()(const Place& p) {
    run_arg_panel<NV, kPartial, T>(a, u, p);
  }
};
template <class T>
void units_of(const SpmmArgs& a, int64_t first, int64_t last) {
  for (int64_t q = first; q < last; ++q) {
    ArgBody<T> body{a, a.schedule->units[static_cast<size_t>(q)]};
    for_panels<std::is_same_v<T, float> ? 4 : 2>(Tag<T>(), static_cast<size_t>(a.width), body);
  }
}

/// Between segments the same rule holds: a later one wins only if it is better, or the first NaN.
template <class T>
void fold_of(const SpmmArgs& a) {
  using A = Accumulator<T>;
  const Tag<T> d;
  const size_t width = static_cast<size_t>(a.width);
  for (const Hub& hub : a.schedule->hubs) {
    T* const y = static_cast<T*>(a.y) + static_cast<size_t>(hub.row) * static_cast<size_t>(a.y_stride);
    for (size_t f = 0; f < width; ++f) {
      const size_t first = static_cast<size_t>(hub.slot) * width + f;
      A best = static_cast<const A*>(a.part)[first];
      int64_t at = a.part_arg[first];
      for (int32_t s = 1; s < hub.count; ++s) {
        const A v = static_cast<const A*>(a.part)[first + static_cast<size_t>(s) * width];
        const bool better = a.reduce == Reduce::max ? v > best : v < best;
        if (!better && !(std::isnan(v) && !std::isnan(best))) continue;
        best = v;
        at = a.part_arg[first + static_cast<size_t>(s) * width];
      }
      store_partial(d, hn::Set(d, best), y + f, 1);
      a.arg[static_cast<size_t>(hub.row) * width + f] = at;
    }
  }
}

void SpmmArgUnits(const SpmmArgs& a, int64_t first, int64_t last) {
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

void SpmmArgFold(const SpmmArgs& a) {
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
HWY_EXPORT(SpmmArgUnits);
HWY_EXPORT(SpmmArgFold);
}  // namespace

SpmmKernel arg_kernel() {
  return {[](const SpmmArgs& a, int64_t first, int64_t last) {
            HWY_DYNAMIC_DISPATCH(SpmmArgUnits)
            (a, first, last);
          },
          [](const SpmmArgs& a) {
            HWY_DYNAMIC_DISPATCH(SpmmArgFold)
            (a);
          }};
}
}  // namespace pantile::sparse
#endif
