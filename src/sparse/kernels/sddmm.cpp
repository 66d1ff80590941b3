#include "sparse/kernels/sddmm.h"

#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

template <class T>
Rows<T> rows_of(const SddmmOperand& o, const Csr& csr, int64_t row, int64_t edge, int n, int64_t* at) {
  for (int k = 0; k < n; ++k) {
    const int64_t index = o.target == Target::dst   ? row
                          : o.target == Target::src ? int64_t{csr.col[edge + k]}
                                                    : edge + k;
    at[k] = index * o.values.stride;
  }
  return {static_cast<const T*>(o.values.data), at};
}

// Calls chunk(row, first edge, edges) for all edges of the units.
template <class Body>
void each_chunk(const SddmmArgs& args, Body chunk) {
  EdgeWalk walk;
  walk.csr = args.csr;
  walk.units = args.units;
  each_row(walk, [&](int64_t i, int64_t edge, int64_t end, int32_t) {
    for (; edge < end; edge += kChunk) chunk(i, edge, static_cast<int>(std::min<int64_t>(kChunk, end - edge)));
  });
}

template <class T>
void dots(const SddmmArgs& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.shape;
  // A dot does not mind the order of its operands; a destination on either side is loaded once per row.
  const bool swapped = args.rhs.target == Target::dst && args.lhs.target != Target::dst;
  const SddmmOperand &own = swapped ? args.rhs : args.lhs, &other = swapped ? args.lhs : args.rhs;
  const bool by_row = own.target == Target::dst;
  if (by_row && other.target == Target::src && shape.heads == 1) return sddmm_dot_units(args, own, other);
  std::vector<A> row(static_cast<size_t>(shape.features() + kPad)), values(static_cast<size_t>(shape.chunk_values()));
  int64_t at_own[kChunk], at_other[kChunk], loaded = -1;
  const auto write = [&](const A* from, int count, int64_t edge) {
    if (args.wide_out)
      std::copy_n(from, count, args.out.row<A>(edge));
    else
      ops.store_values(from, count, args.out.row<T>(edge));
  };
  each_chunk(args, [&](int64_t i, int64_t edge, int n) {
    const Rows<T> rows = rows_of<T>(other, args.csr, i, edge, n, at_other);
    Ahead ahead;
    if (other.target == Target::src)
      ahead = {static_cast<const char*>(other.values.data), args.csr.col + edge, args.csr.edges() - edge,
               other.values.stride * static_cast<int64_t>(sizeof(T)), prefetch_distance(shape.features())};
    if (by_row) {
      if (loaded != i) ops.load_values(own.values.row<T>(i), shape.features(), row.data());
      loaded = i;
      ops.dot_rows(row.data(), rows, n, shape, values.data(), ahead);
    } else {
      ops.dot_pairs(rows_of<T>(own, args.csr, i, edge, n, at_own), rows, n, shape, values.data(), ahead);
    }
    if (args.out.stride == shape.heads && shape.heads == shape.padded)
      return write(values.data(), n * shape.heads, edge);
    for (int k = 0; k < n; ++k) write(values.data() + k * shape.padded, shape.heads, edge + k);
  });
}

// One operand row in the accumulator type, over all features: itself, one value for all, or one per head.
template <class T>
void load_operand(const EdgeOps<T>& ops, const T* row, int64_t cols, Heads shape, AccumulatorOf<T>* scratch,
                  AccumulatorOf<T>* out) {
  if (cols == shape.features()) return ops.load_values(row, shape.features(), out);
  ops.load_values(row, static_cast<int>(cols), scratch);
  const int repeat = cols == 1 ? shape.features() : shape.dim;
  for (int64_t c = 0; c < cols; ++c) std::fill_n(out + c * repeat, repeat, scratch[c]);
}

template <class A>
void combine(EdgeOp op, const A* l, const A* r, int features, A* out) {
  switch (op) {
    case EdgeOp::add:
      for (int f = 0; f < features; ++f) out[f] = l[f] + r[f];
      return;
    case EdgeOp::sub:
      for (int f = 0; f < features; ++f) out[f] = l[f] - r[f];
      return;
    case EdgeOp::mul:
      for (int f = 0; f < features; ++f) out[f] = l[f] * r[f];
      return;
    case EdgeOp::div:
      for (int f = 0; f < features; ++f) out[f] = l[f] / r[f];
      return;
    case EdgeOp::copy_lhs:
      std::copy_n(l, features, out);
      return;
    case EdgeOp::copy_rhs:
      std::copy_n(r, features, out);
      return;
    case EdgeOp::dot:
      return;
  }
}

template <class T>
void elementwise(const SddmmArgs& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const int features = args.shape.features();
  const bool uses_lhs = args.op != EdgeOp::copy_rhs, uses_rhs = args.op != EdgeOp::copy_lhs;
  std::vector<A> l(static_cast<size_t>(features + kPad)), r(l.size()), out(l.size()),
      scratch(static_cast<size_t>(args.shape.heads + features + kPad));
  int64_t at_l[kChunk], at_r[kChunk];
  each_chunk(args, [&](int64_t i, int64_t edge, int n) {
    const Rows<T> lhs = uses_lhs ? rows_of<T>(args.lhs, args.csr, i, edge, n, at_l) : Rows<T>();
    const Rows<T> rhs = uses_rhs ? rows_of<T>(args.rhs, args.csr, i, edge, n, at_r) : Rows<T>();
    for (int k = 0; k < n; ++k) {
      if (uses_lhs && (k == 0 || args.lhs.target != Target::dst))
        load_operand(ops, lhs[k], args.lhs.cols, args.shape, scratch.data(), l.data());
      if (uses_rhs && (k == 0 || args.rhs.target != Target::dst))
        load_operand(ops, rhs[k], args.rhs.cols, args.shape, scratch.data(), r.data());
      combine(args.op, l.data(), r.data(), features, out.data());
      ops.store_values(out.data(), features, args.out.row<T>(edge + k));
    }
  });
}

}  // namespace

void sddmm_units(const SddmmArgs& args) {
  for_dtype(args.dtype, [&](auto t) {
    using T = decltype(t);
    if (args.op == EdgeOp::dot) return dots<T>(args);
    elementwise<T>(args);
  });
}

}  // namespace pantile::sparse
