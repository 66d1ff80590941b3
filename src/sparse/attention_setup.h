#pragma once

#include <pantile/core/buffer.h>
#include <pantile/core/function_ref.h>
#include <pantile/sparse/attention.h>

#include <string_view>

#include "sparse/kernels/attention.h"

/// What every attention does around its kernels: validation at the border, packing per node, running units, joining
/// hubs.
namespace pantile::sparse {

/// Name and expected shape of one matrix of a call, for the messages.
struct Expected {
  std::string_view op, name;
  int64_t rows, cols;
  DType dtype;
};
/// invalid_argument "gat: v is [10, 64], expected [12, 64] (one row per source of the graph)"; also dtype, stride and
/// null data.
Status check_matrix(const ConstMatrix& m, const Expected& expected, std::string_view rows_are);

/// heads >= 1 divides features; everything fits the 31-bit sizes of the kernels.
Result<Heads> check_heads(std::string_view op, int64_t heads, int64_t features);
Status check_floating(std::string_view op, std::string_view name, DType dtype);

/// The walk without its units. Errors: invalid_argument for a dropout probability outside [0, 1).
Result<EdgeWalk> make_walk(std::string_view op, const Plan& plan, Direction direction, DType dtype, Heads shape,
                           const AttentionDropout& dropout);

inline Values values_of(const ConstMatrix& m) { return {m.data, m.row_stride}; }
inline MutableValues values_of(const Matrix& m) { return {m.data, m.row_stride}; }

/// [rows, heads] of the accumulator type as [rows, padded], padded heads 0: the matrix itself where it already has that
/// form.
class PackedHeads {
 public:
  static Result<PackedHeads> make(const ConstMatrix& m, Heads shape);
  const void* data() const { return data_; }

 private:
  Buffer buffer_;
  const void* data_ = nullptr;
};

/// acc [rows, 3, padded]: term (0 where `term` has no data), lse, <dy, y> per head.
Result<Buffer> pack_destinations(const ConstMatrix& y, const ConstMatrix& dy, const ConstMatrix& lse,
                                 const ConstMatrix& term, Heads shape);

/// acc [slots, width] for the partial results of hub segments.
Result<Buffer> make_partials(const Schedule& schedule, int64_t width, DType dtype);

/// Calls body(units) for shares of about equal cost.
void run_units(const Schedule& schedule, FunctionRef<void(std::span<const Unit>)> body);
/// The same for at most kUnitGroups groups of consecutive units, body(group, units): groups depend on the graph alone,
/// so what each sums for itself can be folded in order.
inline constexpr int64_t kUnitGroups = 1024;
int64_t unit_groups(const Schedule& schedule);
void run_unit_groups(const Schedule& schedule, FunctionRef<void(int64_t, std::span<const Unit>)> body);

/// Merges the (m, s, sum) of hub segments in their order and writes y and lse.
void join_forward(const Schedule& schedule, const ForwardOutputs& out, Heads shape, DType dtype);

/// Where a range of a backward partial row goes: elements [begin, begin + size) of the sum to `to`, of dtype `dtype`.
struct JoinTarget {
  int64_t begin, size;
  MutableValues to;
  DType dtype;
};
/// Adds the partial rows of hub segments in their order.
void join_backward(const Schedule& schedule, const Partials& part, DType accumulator,
                   std::span<const JoinTarget> targets);

/// sum over groups, in order, of rows of `features` acc values, stored with dtype `out.dtype` row by row as [heads,
/// dim].
void fold_groups(const void* groups, int64_t count, DType accumulator, Matrix out);

}  // namespace pantile::sparse
