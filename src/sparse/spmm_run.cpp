#include "sparse/spmm_run.h"

#include <pantile/core/buffer.h>
#include <pantile/core/thread_pool.h>
#include <algorithm>

namespace pantile::sparse {

SpmmArgs spmm_args(const Plan& plan, Direction d, const ConstMatrix& x, const EdgeValues& w, const Matrix& y) {
  SpmmArgs a;
  a.csr = plan.csr(d);
  a.schedule = &plan.schedule(d);
  a.dtype = x.dtype;
  a.x = x.data;
  a.x_stride = x.row_stride;
  a.y = y.data;
  a.y_stride = y.row_stride;
  a.width = x.cols;
  a.w = w.data;
  a.heads = w.data == nullptr ? 1 : w.heads;
  a.perm = w.data == nullptr ? nullptr : plan.perm(d);
  a.prefetch = prefetch_distance(a.width, a.dtype);
  return a;
}

Status run_spmm(const SpmmKernel& kernel, SpmmArgs a) {
  if (a.csr.rows == 0 || a.width == 0) return {};
  const Schedule& s = *a.schedule;
  Buffer part, part_arg;
  if (s.slots > 0) {
    PANTILE_TRY(const int64_t elements, checked_multiply(s.slots, a.width));
    PANTILE_TRY(part, Buffer::allocate_elements(elements, size_of(accumulator_of(a.dtype))));
    a.part = part.data();
    if (a.arg != nullptr) {
      PANTILE_TRY(part_arg, Buffer::allocate_elements(elements, sizeof(int64_t)));
      a.part_arg = part_arg.as<int64_t>();
    }
  }
  // Below a few microseconds of work, waking a second thread costs more than it brings. Units do not change, so nor do
  // results.
  const int64_t units = static_cast<int64_t>(s.units.size()), elements = s.cost.back() * (a.width + 8);
  if (elements < 250'000) {
    kernel.units(a, 0, units);
  } else {
    parallel_by_cost(s.cost, [&](int64_t first, int64_t last) { kernel.units(a, first, last); });
  }
  if (!s.hubs.empty()) kernel.fold(a);
  return {};
}

SpmmKernel choose_spmm(const SpmmArgs& a) {
  if (a.reduce == Reduce::min || a.reduce == Reduce::max) return extreme_kernel();
  if (a.perm != nullptr || a.source_scale != nullptr || a.heads > 1) return sum_general_kernel();
  return a.dtype == DType::f32 ? sum_kernel() : sum_storage_kernel();
}

}  // namespace pantile::sparse
