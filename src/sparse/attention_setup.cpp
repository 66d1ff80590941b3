#include "sparse/attention_setup.h"

#include <fmt/format.h>
#include <pantile/core/thread_pool.h>

#include <cmath>
#include <limits>

#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

constexpr int64_t kRowGrain = 512;  // rows per piece of the passes over nodes

template <class T>
T from_accumulator(AccumulatorOf<T> v) {
  if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(v);
  else if constexpr (std::is_same_v<T, Float16>)
    return to_float16(v);
  else
    return v;
}

// Calls body(A()) with the type of sums.
template <class Body>
void for_accumulator(DType dtype, Body body) {
  if (dtype == DType::f64) return body(double());
  body(float());
}

template <class A>
void pack_rows(const ConstMatrix& m, Heads shape, A* out) {
  parallel_for(m.rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const A* row = m.as<A>() + i * m.row_stride;
      A* packed = out + i * shape.padded;
      std::fill(std::copy_n(row, shape.heads, packed), packed + shape.padded, A{0});
    }
  });
}

template <class T>
void pack_destination_rows(const ConstMatrix& y, const ConstMatrix& dy, const ConstMatrix& lse, const ConstMatrix& term,
                           Heads shape, AccumulatorOf<T>* out) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  parallel_for(y.rows, kChunk, [&](int64_t begin, int64_t end) {
    std::vector<A> dots(static_cast<size_t>(shape.chunk_values()));
    int64_t at_y[kChunk], at_dy[kChunk];
    const int n = static_cast<int>(end - begin);
    for (int k = 0; k < n; ++k) {
      at_y[k] = (begin + k) * y.row_stride;
      at_dy[k] = (begin + k) * dy.row_stride;
    }
    ops.dot_pairs({dy.as<T>(), at_dy}, {y.as<T>(), at_y}, n, shape, dots.data(), Ahead());
    for (int k = 0; k < n; ++k) {
      A* packed = out + (begin + k) * 3 * shape.padded;
      std::fill_n(packed, 3 * shape.padded, A{0});
      if (term.data != nullptr) std::copy_n(term.as<A>() + (begin + k) * term.row_stride, shape.heads, packed);
      std::copy_n(lse.as<A>() + (begin + k) * lse.row_stride, shape.heads, packed + shape.padded);
      std::copy_n(dots.data() + k * shape.padded, shape.heads, packed + 2 * shape.padded);
    }
  });
}

}  // namespace

Status check_matrix(const ConstMatrix& m, const Expected& e, std::string_view rows_are) {
  if (m.rows != e.rows || m.cols != e.cols)
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {} is [{}, {}], expected [{}, {}] ({})", e.op, e.name,
                                                         m.rows, m.cols, e.rows, e.cols, rows_are));
  if (m.dtype != e.dtype)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: {} is {}, expected {}; convert it first", e.op, e.name, name(m.dtype), name(e.dtype)));
  if (m.rows == 0 || m.cols == 0) return {};
  if (m.data == nullptr) return fail(ErrorCode::invalid_argument, fmt::format("{}: {} has no data", e.op, e.name));
  if (m.rows > 1 && m.row_stride < m.cols)
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {} has a row stride of {} elements, below its {} columns",
                                                         e.op, e.name, m.row_stride, m.cols));
  return {};
}

Result<Heads> check_heads(std::string_view op, int64_t heads, int64_t features) {
  constexpr int64_t kLimit = int64_t{1} << 24;  // features of a node; keeps every product with kChunk inside 31 bits
  if (heads < 1 || heads > kLimit)
    return fail(ErrorCode::invalid_argument, fmt::format("{}: heads is {}, allowed are 1 to {}", op, heads, kLimit));
  if (features > kLimit)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: {} features per node, at most {} are allowed", op, features, kLimit));
  if (features % heads != 0)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: {} heads do not divide {} features; pass heads that do", op, heads, features));
  return make_heads(heads, features / heads);
}

Status check_floating(std::string_view op, std::string_view what, DType dtype) {
  if (is_floating(dtype)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: {} is {}; allowed are float64, float32, bfloat16, float16", op, what, name(dtype)));
}

Result<EdgeWalk> make_walk(std::string_view op, const Plan& plan, Direction direction, DType dtype, Heads shape,
                           const AttentionDropout& dropout) {
  if (!(dropout.probability >= 0 && dropout.probability < 1))
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: dropout probability is {}, allowed is 0 <= p < 1", op, dropout.probability));
  EdgeWalk walk;
  walk.csr = plan.csr(direction);
  walk.perm = plan.perm(direction);
  const auto ids = plan.graph().edge_id();
  walk.edge_id = ids.empty() ? nullptr : ids.data();
  walk.dtype = dtype;
  walk.shape = shape;
  walk.seed = dropout.seed;
  walk.threshold = static_cast<uint64_t>(std::llround(dropout.probability * 0x1p32));
  walk.scale = 1 / (1 - dropout.probability);
  return walk;
}

Result<PackedHeads> PackedHeads::make(const ConstMatrix& m, Heads shape) {
  PackedHeads packed;
  packed.data_ = m.data;
  if (shape.padded == shape.heads && (m.row_stride == shape.padded || m.rows <= 1)) return packed;
  PANTILE_TRY(const int64_t count, checked_multiply(m.rows, shape.padded));
  PANTILE_TRY(packed.buffer_, Buffer::allocate_elements(count, size_of(m.dtype)));
  packed.data_ = packed.buffer_.data();
  for_accumulator(m.dtype, [&](auto a) { pack_rows(m, shape, packed.buffer_.as<decltype(a)>()); });
  return packed;
}

Result<Buffer> pack_destinations(const ConstMatrix& y, const ConstMatrix& dy, const ConstMatrix& lse,
                                 const ConstMatrix& term, Heads shape) {
  PANTILE_TRY(const int64_t count, checked_multiply(y.rows, 3 * int64_t{shape.padded}));
  PANTILE_TRY(Buffer packed, Buffer::allocate_elements(count, size_of(accumulator_of(y.dtype))));
  for_dtype(y.dtype, [&](auto t) {
    using T = decltype(t);
    pack_destination_rows<T>(y, dy, lse, term, shape, packed.as<AccumulatorOf<T>>());
  });
  return packed;
}

Result<Buffer> make_partials(const Schedule& schedule, int64_t width, DType dtype) {
  PANTILE_TRY(const int64_t count, checked_multiply(schedule.slots, width));
  return Buffer::allocate_elements(count, size_of(accumulator_of(dtype)));
}

void run_units(const Schedule& schedule, FunctionRef<void(std::span<const Unit>)> body) {
  if (schedule.units.empty()) return;
  parallel_by_cost(schedule.cost, [&](int64_t first, int64_t last) {
    body(std::span(schedule.units).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
  });
}

int64_t unit_groups(const Schedule& schedule) {
  return std::min<int64_t>(kUnitGroups, static_cast<int64_t>(schedule.units.size()));
}

void run_unit_groups(const Schedule& schedule, FunctionRef<void(int64_t, std::span<const Unit>)> body) {
  const int64_t units = static_cast<int64_t>(schedule.units.size()), groups = unit_groups(schedule);
  if (groups == 0) return;
  const auto begin_of = [&](int64_t group) { return units * group / groups; };
  std::vector<int64_t> cost;
  for (int64_t g = 0; g <= groups; ++g) cost.push_back(schedule.cost[static_cast<size_t>(begin_of(g))]);
  parallel_by_cost(cost, [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g)
      body(g, std::span(schedule.units)
                  .subspan(static_cast<size_t>(begin_of(g)), static_cast<size_t>(begin_of(g + 1) - begin_of(g))));
  });
}

template <class T>
static void join_forward_as(const Schedule& schedule, const ForwardOutputs& out, Heads shape) {
  using A = AccumulatorOf<T>;
  const A infinity = std::numeric_limits<A>::infinity();
  parallel_for(static_cast<int64_t>(schedule.hubs.size()), 1, [&](int64_t first, int64_t) {
    const Hub& hub = schedule.hubs[static_cast<size_t>(first)];
    std::vector<A> sum(static_cast<size_t>(shape.features()));
    for (int h = 0; h < shape.heads; ++h) {
      A m = -infinity, s = 0, *total = sum.data() + h * shape.dim;
      for (int32_t slot = hub.slot; slot < hub.slot + hub.count; ++slot) {
        const A* part = static_cast<const A*>(out.part.data) + slot * out.part.width;
        const A m_part = part[h], s_part = part[shape.padded + h], *values = part + 2 * shape.padded + h * shape.dim;
        const A top = std::max(m, m_part), shift = top == -infinity ? A{0} : top;
        const A keep = std::exp(m - shift), take = std::exp(m_part - shift);
        m = top;
        s = s * keep + s_part * take;
        for (int f = 0; f < shape.dim; ++f) total[f] = total[f] * keep + values[f] * take;
      }
      const A inverse = s == 0 ? A{0} : 1 / s;
      T* y = out.y.row<T>(hub.row) + h * shape.dim;
      for (int f = 0; f < shape.dim; ++f) y[f] = from_accumulator<T>(total[f] * inverse);
      out.lse.row<A>(hub.row)[h] = s == 0 ? A{0} : m + std::log(s);
    }
  });
}
void join_forward(const Schedule& schedule, const ForwardOutputs& out, Heads shape, DType dtype) {
  for_dtype(dtype, [&](auto t) { join_forward_as<decltype(t)>(schedule, out, shape); });
}

void join_backward(const Schedule& schedule, const Partials& part, DType accumulator,
                   std::span<const JoinTarget> targets) {
  for_accumulator(accumulator, [&](auto a) {
    using A = decltype(a);
    parallel_for(static_cast<int64_t>(schedule.hubs.size()), 1, [&](int64_t first, int64_t) {
      const Hub& hub = schedule.hubs[static_cast<size_t>(first)];
      std::vector<A> sum(static_cast<size_t>(part.width));
      for (int32_t slot = hub.slot; slot < hub.slot + hub.count; ++slot) {
        const A* row = static_cast<const A*>(part.data) + slot * part.width;
        for (size_t f = 0; f < sum.size(); ++f) sum[f] += row[f];
      }
      for (const JoinTarget& target : targets)
        for_dtype(target.dtype, [&](auto t) {
          using T = decltype(t);
          for (int64_t f = 0; f < target.size; ++f)
            target.to.row<T>(hub.row)[f] =
                from_accumulator<T>(static_cast<AccumulatorOf<T>>(sum[static_cast<size_t>(target.begin + f)]));
        });
    });
  });
}

void fold_groups(const void* groups, int64_t count, DType accumulator, Matrix out) {
  for_accumulator(accumulator, [&](auto a) {
    using A = decltype(a);
    const int64_t features = out.rows * out.cols;
    std::vector<A> sum(static_cast<size_t>(features));
    for (int64_t g = 0; g < count; ++g)
      for (int64_t f = 0; f < features; ++f)
        sum[static_cast<size_t>(f)] += static_cast<const A*>(groups)[g * features + f];
    for_dtype(out.dtype, [&](auto t) {
      using T = decltype(t);
      for (int64_t f = 0; f < features; ++f)
        out.as<T>()[f / out.cols * out.row_stride + f % out.cols] =
            from_accumulator<T>(static_cast<AccumulatorOf<T>>(sum[static_cast<size_t>(f)]));
    });
  });
}

}  // namespace pantile::sparse
