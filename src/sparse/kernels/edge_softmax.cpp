#include "sparse/kernels/edge_softmax.h"

#include <cmath>
#include <limits>

#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

// Moves the values of a chunk's edges between [E, heads] and scratch [n, padded].
template <class T>
class EdgeValuesIo {
 public:
  using A = AccumulatorOf<T>;
  explicit EdgeValuesIo(const EdgeSoftmax& args) : args_(args), ops_(edge_ops<T>()) {}
  void read(Values table, int64_t edge, int n, A* out) const {
    const Heads shape = args_.walk.shape;
    if (contiguous(table.stride)) return ops_.load_values(table.row<T>(edge), n * shape.heads, out);
    for (int k = 0; k < n; ++k) ops_.load_values(table.row<T>(position(edge + k)), shape.heads, out + k * shape.padded);
  }
  void write(const A* values, int64_t edge, int n) const {
    const Heads shape = args_.walk.shape;
    if (contiguous(args_.out.stride)) return ops_.store_values(values, n * shape.heads, args_.out.row<T>(edge));
    for (int k = 0; k < n; ++k)
      ops_.store_values(values + k * shape.padded, shape.heads, args_.out.row<T>(position(edge + k)));
  }

 private:
  bool contiguous(int64_t stride) const {
    return args_.walk.perm == nullptr && args_.walk.shape.heads == args_.walk.shape.padded &&
           stride == args_.walk.shape.heads;
  }
  int64_t position(int64_t edge) const { return args_.walk.perm == nullptr ? edge : args_.walk.perm[edge]; }
  const EdgeSoftmax& args_;
  const EdgeOps<T>& ops_;
};

// Calls chunk(first edge, edges) over [edge, end).
template <class Body>
void each_chunk(int64_t edge, int64_t end, Body chunk) {
  for (; edge < end; edge += kChunk) chunk(edge, static_cast<int>(std::min<int64_t>(kChunk, end - edge)));
}

template <class T>
struct SoftmaxScratch {
  using A = AccumulatorOf<T>;
  explicit SoftmaxScratch(Heads shape)
      : z(static_cast<size_t>(shape.chunk_values())),
        dp(z.size()),
        m(static_cast<size_t>(shape.padded + kPad)),
        s(m.size()),
        scale(m.size()),
        lse(m.size()) {}
  std::vector<A> z, dp, m, s, scale, lse;
};

// The shift of heads that saw only -inf is 0, so that their weights are exp(-inf) = 0.
template <class A>
void finite_shift(std::vector<A>& m) {
  for (A& v : m)
    if (v == -std::numeric_limits<A>::infinity()) v = 0;
}

template <class T>
void softmax_rows(const EdgeSoftmax& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const EdgeValuesIo<T> io(args);
  SoftmaxScratch<T> b(shape);
  each_row(args.walk, [&](int64_t, int64_t first, int64_t end, int32_t slot) {
    if (first == end) return;
    ops.softmax_begin(shape.padded, b.m.data(), b.s.data());
    each_chunk(first, end, [&](int64_t edge, int n) {
      io.read(args.z, edge, n, b.z.data());
      ops.softmax_chunk(n, shape.padded, b.z.data(), b.m.data(), b.s.data(), b.scale.data());
    });
    if (slot >= 0) {
      ops.join_repeats(shape.padded, b.s.data());
      A* part = static_cast<A*>(args.part.data) + slot * args.part.width;
      std::copy_n(b.s.data(), shape.padded, std::copy_n(b.m.data(), shape.padded, part));
      return;
    }
    ops.softmax_finish(shape.padded, b.m.data(), b.s.data(), b.scale.data(), b.lse.data());
    finite_shift(b.m);
    each_chunk(first, end, [&](int64_t edge, int n) {
      io.read(args.z, edge, n, b.z.data());
      ops.softmax_apply(n, shape.padded, b.m.data(), b.scale.data(), b.z.data());
      io.write(b.z.data(), edge, n);
    });
  });
}

template <class T>
void join_softmax(const EdgeSoftmax& args, const Hub& hub) {
  using A = AccumulatorOf<T>;
  const A infinity = std::numeric_limits<A>::infinity();
  const int padded = args.walk.shape.padded;
  const auto part = [&](int32_t slot) { return static_cast<A*>(args.part.data) + slot * args.part.width; };
  for (int h = 0; h < padded; ++h) {
    A m = -infinity, s = 0;
    for (int32_t slot = hub.slot; slot < hub.slot + hub.count; ++slot) {
      const A top = std::max(m, part(slot)[h]), shift = top == -infinity ? A{0} : top;
      s = s * std::exp(m - shift) + part(slot)[padded + h] * std::exp(part(slot)[h] - shift);
      m = top;
    }
    for (int32_t slot = hub.slot; slot < hub.slot + hub.count; ++slot) {
      part(slot)[h] = m == -infinity ? A{0} : m;
      part(slot)[padded + h] = s == 0 ? A{0} : 1 / s;
    }
  }
}

template <class T>
void finish_softmax(const EdgeSoftmax& args, const Unit& segment) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const int padded = args.walk.shape.padded;
  const EdgeValuesIo<T> io(args);
  SoftmaxScratch<T> b(args.walk.shape);
  const A* part = static_cast<const A*>(args.part.data) + segment.slot * args.part.width;
  ops.repeat_heads(part, padded, b.m.data());
  ops.repeat_heads(part + padded, padded, b.scale.data());
  each_chunk(segment.edge, segment.edge_end, [&](int64_t edge, int n) {
    io.read(args.z, edge, n, b.z.data());
    ops.softmax_apply(n, padded, b.m.data(), b.scale.data(), b.z.data());
    io.write(b.z.data(), edge, n);
  });
}

// sum[h] += p dp over a chunk.
template <class A>
void add_products(const A* p, const A* dp, int n, int padded, A* sum) {
  for (int k = 0; k < n; ++k)
    for (int h = 0; h < padded; ++h) sum[h] += p[k * padded + h] * dp[k * padded + h];
}
template <class T>
void write_gradient(const EdgeSoftmax& args, const EdgeValuesIo<T>& io, SoftmaxScratch<T>& b,
                    const AccumulatorOf<T>* sum, int64_t first, int64_t end) {
  const int padded = args.walk.shape.padded;
  each_chunk(first, end, [&](int64_t edge, int n) {
    io.read(args.z, edge, n, b.z.data());
    io.read(args.dp, edge, n, b.dp.data());
    for (int k = 0; k < n; ++k)
      for (int h = 0; h < padded; ++h) {
        const size_t at = static_cast<size_t>(k * padded + h);
        b.dp[at] = b.z[at] * (b.dp[at] - sum[h]);
      }
    io.write(b.dp.data(), edge, n);
  });
}

template <class T>
void gradient_rows(const EdgeSoftmax& args) {
  using A = AccumulatorOf<T>;
  const int padded = args.walk.shape.padded;
  const EdgeValuesIo<T> io(args);
  SoftmaxScratch<T> b(args.walk.shape);
  each_row(args.walk, [&](int64_t, int64_t first, int64_t end, int32_t slot) {
    std::fill(b.s.begin(), b.s.end(), A{0});
    each_chunk(first, end, [&](int64_t edge, int n) {
      io.read(args.z, edge, n, b.z.data());
      io.read(args.dp, edge, n, b.dp.data());
      add_products(b.z.data(), b.dp.data(), n, padded, b.s.data());
    });
    if (slot >= 0)
      std::copy_n(b.s.data(), padded, static_cast<A*>(args.part.data) + slot * args.part.width);
    else
      write_gradient(args, io, b, b.s.data(), first, end);
  });
}

template <class T>
void join_gradient(const EdgeSoftmax& args, const Hub& hub) {
  using A = AccumulatorOf<T>;
  const auto part = [&](int32_t slot) { return static_cast<A*>(args.part.data) + slot * args.part.width; };
  for (int h = 0; h < args.walk.shape.padded; ++h) {
    A sum = 0;
    for (int32_t slot = hub.slot; slot < hub.slot + hub.count; ++slot) sum += part(slot)[h];
    for (int32_t slot = hub.slot; slot < hub.slot + hub.count; ++slot) part(slot)[h] = sum;
  }
}

}  // namespace

void edge_softmax_units(const EdgeSoftmax& args) {
  for_dtype(args.walk.dtype, [&](auto t) { softmax_rows<decltype(t)>(args); });
}
void edge_softmax_grad_units(const EdgeSoftmax& args) {
  for_dtype(args.walk.dtype, [&](auto t) { gradient_rows<decltype(t)>(args); });
}
void edge_softmax_join(const EdgeSoftmax& args, const Hub& hub) {
  for_dtype(args.walk.dtype, [&](auto t) { join_softmax<decltype(t)>(args, hub); });
}
void edge_softmax_grad_join(const EdgeSoftmax& args, const Hub& hub) {
  for_dtype(args.walk.dtype, [&](auto t) { join_gradient<decltype(t)>(args, hub); });
}
void edge_softmax_finish(const EdgeSoftmax& args, const Unit& segment) {
  for_dtype(args.walk.dtype, [&](auto t) { finish_softmax<decltype(t)>(args, segment); });
}
void edge_softmax_grad_finish(const EdgeSoftmax& args, const Unit& segment) {
  for_dtype(args.walk.dtype, [&](auto t) {
    using T = decltype(t);
    SoftmaxScratch<T> scratch(args.walk.shape);
    const auto* sum = static_cast<const AccumulatorOf<T>*>(args.part.data) + segment.slot * args.part.width;
    write_gradient(args, EdgeValuesIo<T>(args), scratch, sum, segment.edge, segment.edge_end);
  });
}

}  // namespace pantile::sparse
