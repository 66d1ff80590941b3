// The loops behind measure_peaks: written once with Highway, compiled per target, chosen at run time.
#include <algorithm>

#include "core/kernels/peaks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/peaks.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pantile::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<float> kTag;
using V = hn::Vec<decltype(kTag)>;

int64_t multiply_add_rounds_on(int64_t rounds, float* sink) {
  // Ten independent chains cover latency x ports of current cores (4 x 2) and leave registers for the two factors.
  const V a = hn::Set(kTag, 0.999f), b = hn::Set(kTag, 0.001f);
  V c0 = b, c1 = b, c2 = b, c3 = b, c4 = b, c5 = b, c6 = b, c7 = b, c8 = b, c9 = b;
  for (int64_t r = 0; r < rounds; ++r) {
    c0 = hn::MulAdd(c0, a, b);
    c1 = hn::MulAdd(c1, a, b);
    c2 = hn::MulAdd(c2, a, b);
    c3 = hn::MulAdd(c3, a, b);
    c4 = hn::MulAdd(c4, a, b);
    c5 = hn::MulAdd(c5, a, b);
    c6 = hn::MulAdd(c6, a, b);
    c7 = hn::MulAdd(c7, a, b);
    c8 = hn::MulAdd(c8, a, b);
    c9 = hn::MulAdd(c9, a, b);
  }
  const V sum = hn::Add(hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)),
                        hn::Add(hn::Add(c4, c5), hn::Add(hn::Add(c6, c7), hn::Add(c8, c9))));
  *sink = hn::GetLane(hn::SumOfLanes(kTag, sum));
  return rounds * 10 * 2 * static_cast<int64_t>(hn::Lanes(kTag));
}

void sum_rows_on(const float* HWY_RESTRICT table, const int32_t* HWY_RESTRICT index, int64_t count,
                 float* HWY_RESTRICT out) {
  constexpr int64_t kGroup = 32, kAhead = 24;
  const hn::CappedTag<float, 8> d;  // 8 accumulators of 8 lanes hold one row in registers on every target from AVX2 up
  const size_t lanes = hn::Lanes(d);
  for (int64_t first = 0; first < count; first += kGroup) {
    const int64_t last = std::min(count, first + kGroup);
    for (int64_t p = first; p < last; ++p) {
      const float* ahead = table + static_cast<int64_t>(index[std::min(p + kAhead, count - 1)]) * 64;
      for (int line = 0; line < 4; ++line) hwy::Prefetch(ahead + 16 * line);
    }
    for (size_t col = 0; col < 64; col += 8 * lanes) {
      auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
      for (int64_t p = first; p < last; ++p) {
        const float* row = table + static_cast<int64_t>(index[p]) * 64 + col;
        s0 = hn::Add(s0, hn::LoadU(d, row));
        s1 = hn::Add(s1, hn::LoadU(d, row + lanes));
        s2 = hn::Add(s2, hn::LoadU(d, row + 2 * lanes));
        s3 = hn::Add(s3, hn::LoadU(d, row + 3 * lanes));
        s4 = hn::Add(s4, hn::LoadU(d, row + 4 * lanes));
        s5 = hn::Add(s5, hn::LoadU(d, row + 5 * lanes));
        s6 = hn::Add(s6, hn::LoadU(d, row + 6 * lanes));
        s7 = hn::Add(s7, hn::LoadU(d, row + 7 * lanes));
      }
      float* to = out + col;
      hn::StoreU(s0, d, to);
      hn::StoreU(s1, d, to + lanes);
      hn::StoreU(s2, d, to + 2 * lanes);
      hn::StoreU(s3, d, to + 3 * lanes);
      hn::StoreU(s4, d, to + 4 * lanes);
      hn::StoreU(s5, d, to + 5 * lanes);
      hn::StoreU(s6, d, to + 6 * lanes);
      hn::StoreU(s7, d, to + 7 * lanes);
    }
  }
}

}  // namespace pantile::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/targets.h>

namespace pantile::kernels {

HWY_EXPORT(multiply_add_rounds_on);
HWY_EXPORT(sum_rows_on);

std::string chosen_simd_target() {
  const int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;  // the lowest bit is the best one, which dispatch takes
  return hwy::TargetName(usable & -usable);
}

int64_t multiply_add_rounds(int64_t rounds, float* sink) {
  return HWY_DYNAMIC_DISPATCH(multiply_add_rounds_on)(rounds, sink);
}

void sum_rows(const float* table, const int32_t* index, int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_rows_on)(table, index, count, out);
}

}  // namespace pantile::kernels
#endif
