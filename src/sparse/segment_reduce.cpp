#include <fmt/format.h>

#include <pantile/sparse/segment.h>
#include <limits>

#include "sparse/operands.h"
#include "sparse/spmm_run.h"

namespace pantile::sparse {

Status segment_reduce(std::span<const int64_t> ptr, const int64_t* perm, Reduce reduce, ConstMatrix x, Matrix y) {
  if (ptr.empty())
    return fail(ErrorCode::invalid_argument, "ptr is empty; it needs one entry more than there are segments");
  const int64_t segments = static_cast<int64_t>(ptr.size()) - 1;
  if (segments > std::numeric_limits<int32_t>::max())
    return fail(ErrorCode::unsupported, fmt::format("{} segments; at most 2^31 - 1 are supported", segments));
  if (ptr[0] < 0)
    return fail(ErrorCode::invalid_argument, fmt::format("ptr[0] is {}, it must not be negative", ptr[0]));
  for (size_t i = 1; i < ptr.size(); ++i)
    if (ptr[i] < ptr[i - 1])
      return fail(ErrorCode::invalid_argument,
                  fmt::format("ptr[{}] = {} is less than ptr[{}] = {}; offsets must not decrease", i, ptr[i], i - 1,
                              ptr[i - 1]));
  if (perm == nullptr && ptr.back() > x.rows)
    return fail(ErrorCode::out_of_range, fmt::format("ptr ends at {}, but x has {} rows", ptr.back(), x.rows));
  if (perm != nullptr)
    for (int64_t k = ptr[0]; k < ptr.back(); ++k)
      if (perm[k] < 0 || perm[k] >= x.rows)
        return fail(ErrorCode::out_of_range, fmt::format("perm[{}] = {} is outside [0, {})", k, perm[k], x.rows));
  PANTILE_CHECK(check_matrix("x", x, x.rows, x.cols));
  PANTILE_CHECK(check_matrix("y", y, segments, x.cols));
  PANTILE_CHECK(check_same_dtype("y", y.dtype, "x", x.dtype));
  PANTILE_CHECK(check_apart("y", y, "x", x));

  SpmmArgs a;
  a.csr = {segments, x.rows, ptr.data(), nullptr};
  const Schedule schedule = make_schedule(a.csr);
  a.schedule = &schedule;
  a.dtype = x.dtype;
  a.reduce = reduce;
  a.x = x.data;
  a.x_stride = x.row_stride;
  a.y = y.data;
  a.y_stride = y.row_stride;
  a.width = x.cols;
  a.perm = perm;
  return run_spmm(segment_kernel(), a);
}

}  // namespace pantile::sparse
