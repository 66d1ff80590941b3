#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

// z = beta <x_i, x_j> / (|x_i| |x_j|): the dots of a chunk times the inverse norms of both ends.
template <class A>
void scale_by_norms(const A* inverse_norm, A own, const int32_t* col, int n, A* dots) {
  for (int k = 0; k < n; ++k) dots[k] *= own * inverse_norm[col[k]];
}

template <class T>
void forward(const AgnnForward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const A *inverse_norm = static_cast<const A*>(args.inverse_norm), beta = static_cast<A>(args.beta);
  const int chunk_size = chunk_edges(static_cast<int64_t>(shape.features()) * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, false);
  OnlineRow<T> online(shape);
  std::vector<A> z(static_cast<size_t>(shape.chunk_values())), x(static_cast<size_t>(shape.features() + kPad));
  int64_t at[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    online.begin();
    ops.load_values(args.x.row<T>(i), shape.features(), x.data());
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> rows = chunk.neighbours(args.x, at);
      ops.dot_rows(x.data(), rows, n, shape, z.data(), chunk.ahead(args.x));
      scale_by_norms(inverse_norm, inverse_norm[i], chunk.col(), n, z.data());
      multiply(z.data(), beta, n);
      online.weigh(chunk, z.data());
      online.add(chunk, z.data(), rows, Ahead());
    }
    online.finish(args.out, i, slot);
  });
}

// With c = cos(x_i, x_j): dbeta = sum dz c, and the unit vector of the destination gets sum dz beta x_j / |x_j|.
template <class T>
void backward_by_row(const AgnnBackward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const int features = shape.features();
  const A *inverse_norm = static_cast<const A*>(args.inverse_norm), beta = static_cast<A>(args.beta);
  const int chunk_size = chunk_edges(static_cast<int64_t>(features) * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, false);
  BackwardScratch<A> scratch(shape);
  const HeadMap<A> map = ops.make_head_map(shape);
  std::vector<A> x(static_cast<size_t>(features + kPad)), dy(x.size()), sum(x.size()),
      cosine(static_cast<size_t>(shape.chunk_values()));
  double d_beta = 0;
  int64_t at[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    scratch.load_destination(ops, args.destinations, i, shape.padded);
    ops.load_values(args.x.row<T>(i), features, x.data());
    ops.load_values(args.dy.row<T>(i), features, dy.data());
    bool fresh = true;
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> rows = chunk.neighbours(args.x, at);
      ops.dot_rows(x.data(), rows, n, shape, cosine.data(), chunk.ahead(args.x));
      ops.dot_rows(dy.data(), rows, n, shape, scratch.dp, Ahead());
      scale_by_norms(inverse_norm, inverse_norm[i], chunk.col(), n, cosine.data());
      for (int k = 0; k < n; ++k) scratch.z[k] = cosine[static_cast<size_t>(k)] * beta;
      ops.softmax_gradient(true, n, shape.padded, scratch.own, scratch.own_lse, scratch.own_delta, nullptr, A{1},
                           scratch.z, scratch.dp, scratch.sum);
      for (int k = 0; k < n; ++k)
        d_beta += static_cast<double>(scratch.dp[k]) * static_cast<double>(cosine[static_cast<size_t>(k)]);
      scale_by_norms(inverse_norm, beta, chunk.col(), n, scratch.dp);
      ops.add_weighted(rows, n, scratch.dp, map, fresh, sum.data(), Ahead());
      fresh = false;
    }
    if (fresh) std::fill(sum.begin(), sum.end(), A{0});
    A* to = slot >= 0 ? static_cast<A*>(args.part.data) + slot * args.part.width
                      : static_cast<A*>(args.d_unit) + i * features;
    std::copy_n(sum.data(), features, to);
  });
  *args.d_beta = d_beta;
}

// dx_j = value + (u - x^ <x^, u>) / |x| with u all that reached the unit vector x^ of the node, from both ends of its
// edges. Where the norm was clamped it is a constant and nothing is projected out.
template <class T>
void finish_column(const AgnnBackward& args, const EdgeOps<T>& ops, int64_t j, AccumulatorOf<T>* unit,
                   AccumulatorOf<T>* value) {
  using A = AccumulatorOf<T>;
  const int features = args.walk.shape.features();
  const A inverse = static_cast<const A*>(args.inverse_norm)[j];
  add(unit, static_cast<const A*>(args.d_unit) + j * features, features);
  std::vector<A> x(static_cast<size_t>(features + kPad));
  ops.load_values(args.x.row<T>(j), features, x.data());
  A along = 0;
  if (inverse < 1 / static_cast<A>(kSmallestNorm))
    for (int f = 0; f < features; ++f) along += x[static_cast<size_t>(f)] * inverse * unit[f];
  for (int f = 0; f < features; ++f) value[f] += inverse * (unit[f] - x[static_cast<size_t>(f)] * inverse * along);
  ops.store_values(value, features, args.d_x.row<T>(j));
}

// The source's unit vector gets sum dz beta x_i / |x_i|; as a value it gets sum p dy_i.
template <class T>
void backward_by_column(const AgnnBackward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const int features = shape.features();
  const A *inverse_norm = static_cast<const A*>(args.inverse_norm), beta = static_cast<A>(args.beta);
  const int chunk_size = chunk_edges(2 * int64_t{features} * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, false);
  BackwardScratch<A> scratch(shape);
  const HeadMap<A> map = ops.make_head_map(shape);
  std::vector<A> x(static_cast<size_t>(features + kPad)), unit(x.size()), value(x.size());
  int64_t at_x[kChunk], at_dy[kChunk];
  each_row(args.walk, [&](int64_t j, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    std::fill_n(scratch.own, shape.padded + kPad, A{0});
    ops.load_values(args.x.row<T>(j), features, x.data());
    bool fresh = true;
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> rows = chunk.neighbours(args.x, at_x), gradients = chunk.neighbours(args.dy, at_dy);
      ops.dot_rows(x.data(), rows, n, shape, scratch.z, chunk.ahead(args.x));
      ops.dot_rows(x.data(), gradients, n, shape, scratch.dp, chunk.ahead(args.dy));
      scale_by_norms(inverse_norm, inverse_norm[j], chunk.col(), n, scratch.z);
      multiply(scratch.z, beta, n);
      scratch.gather_destinations(args.destinations, chunk.col(), n, chunk.edges_left(), shape.padded, false);
      ops.softmax_gradient(false, n, shape.padded, scratch.own, scratch.lse, scratch.delta, nullptr, A{1}, scratch.z,
                           scratch.dp, scratch.sum);
      scale_by_norms(inverse_norm, beta, chunk.col(), n, scratch.dp);
      ops.add_weighted(rows, n, scratch.dp, map, fresh, unit.data(), Ahead());
      ops.add_weighted(gradients, n, scratch.z, map, fresh, value.data(), Ahead());
      fresh = false;
    }
    if (fresh) {
      std::fill(unit.begin(), unit.end(), A{0});
      std::fill(value.begin(), value.end(), A{0});
    }
    if (slot < 0) return finish_column(args, ops, j, unit.data(), value.data());
    A* part = static_cast<A*>(args.part.data) + slot * args.part.width;
    std::copy_n(value.data(), features, std::copy_n(unit.data(), features, part));
  });
}

// Hub columns: their segments in order.
template <class T>
void join_columns(const AgnnBackward& args, const Hub& hub) {
  using A = AccumulatorOf<T>;
  const size_t features = static_cast<size_t>(args.walk.shape.features());
  std::vector<A> sum(2 * features + kPad);
  for (int32_t slot = hub.slot; slot < hub.slot + hub.count; ++slot)
    add(sum.data(), static_cast<const A*>(args.part.data) + slot * args.part.width, static_cast<int>(2 * features));
  finish_column(args, edge_ops<T>(), hub.row, sum.data(), sum.data() + features);
}

}  // namespace

void agnn_forward(const AgnnForward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { forward<decltype(t)>(args); });
}
void agnn_backward_by_row(const AgnnBackward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_row<decltype(t)>(args); });
}
void agnn_backward_by_column(const AgnnBackward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_column<decltype(t)>(args); });
}
void agnn_join_columns(const AgnnBackward& args, const Hub& hub) {
  for_dtype(args.walk.dtype, [&](auto t) { join_columns<decltype(t)>(args, hub); });
}

}  // namespace pantile::sparse
