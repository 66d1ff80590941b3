#pragma once

#include <pantile/core/dtype.h>
#include <pantile/sparse/gcn.h>
#include <pantile/sparse/spmm.h>
#include <algorithm>
#include <cstdint>

namespace pantile::sparse {

/// What every gather kernel of SpMM's family is told; pointers and shapes have been checked. A is the accumulator type
/// of dtype.
struct SpmmArgs {
  Csr csr;                             ///< of the direction walked
  const int64_t* perm = nullptr;       ///< position in csr -> position in w; null: the same
  const Schedule* schedule = nullptr;  ///< of csr
  DType dtype = DType::f32;            ///< of x and y
  Reduce reduce = Reduce::sum;
  const void* x = nullptr;  ///< [csr.cols, width]
  void* y = nullptr;        ///< [csr.rows, width]
  int64_t x_stride = 0, y_stride = 0, width = 0;
  const void* w = nullptr;             ///< A [edges, heads] or null
  int64_t heads = 1;                   ///< divides width
  const void* source_scale = nullptr;  ///< A [csr.cols] or null: one more factor for each edge, by its column
  int64_t prefetch = 16;               ///< edges ahead
  void* part = nullptr;                ///< A [schedule.slots, width]: partial rows of hubs
  int64_t* arg = nullptr;              ///< [csr.rows, width], written by spmm_arg
  const int64_t* winners = nullptr;    ///< [csr.cols, width], read by the gradient of min and max
  int64_t* part_arg = nullptr;         ///< [schedule.slots, width]
  const void* self = nullptr;          ///< A [csr.rows] or null (GCN)
  const void* bias = nullptr;          ///< A [width] or null (GCN)
  Activation activation = Activation::none;
  double slope = 0;
};

/// Edges between a row of features and the one prefetched beside it: far enough to hide memory, near enough to stay in
/// L1, which is about 4 KiB of features.
inline int64_t prefetch_distance(int64_t width, DType dtype) {
  return std::clamp<int64_t>(4096 / std::max<int64_t>(1, width * static_cast<int64_t>(size_of(dtype))), 16, 64);
}

/// Each operator: the units [first, last) of the schedule, and afterwards, once, the fold of the hubs.
struct SpmmKernel {
  void (*units)(const SpmmArgs&, int64_t first, int64_t last);
  void (*fold)(const SpmmArgs&);
};
SpmmKernel sum_kernel();          ///< sum and mean of f32; w [edges] or none, no perm, no scale
SpmmKernel sum_storage_kernel();  ///< the same for f64, bf16 and f16
SpmmKernel sum_general_kernel();  ///< sum and mean, any dtype, w, perm and scale
SpmmKernel extreme_kernel();      ///< min and max, any dtype, w and perm
SpmmKernel arg_kernel();          ///< min and max with arg, any dtype and w; perm must be null
SpmmKernel arg_grad_kernel();     ///< sum of the x whose arg is the edge, any dtype, w and perm
SpmmKernel gcn_kernel();          ///< sum with w [edges], then self, bias and activation; any dtype, perm
SpmmKernel segment_kernel();      ///< every reduction over x[perm[k]] or x[k]: csr has no col, w is null

}  // namespace pantile::sparse
