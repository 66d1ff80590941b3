#include <cmath>

#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

template <class A>
A inverse_root(int dim) {
  return dim > 0 ? A{1} / std::sqrt(static_cast<A>(dim)) : A{0};
}

// z = <q_i, k_j + e> / sqrt(D), values v_j + e. The scale is taken into q once per row.
template <class T>
void forward(const TransformerForward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const bool with_edges = args.e.data != nullptr;
  const A scale = inverse_root<A>(shape.dim);
  Chunk<T> chunk(args.walk, with_edges);
  OnlineRow<T> online(shape);
  std::vector<A> z(static_cast<size_t>(shape.chunk_values())), z_edge(z.size()),
      q(static_cast<size_t>(shape.features() + kPad));
  int64_t at[kChunk], at_edge[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    online.begin();
    ops.load_values(args.q.row<T>(i), shape.features(), q.data());
    multiply(q.data(), scale, shape.features());
    for (; edge < end; edge += kChunk) {
      const int n = static_cast<int>(std::min<int64_t>(kChunk, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> extra = chunk.edges(args.e, at_edge);
      ops.dot_rows(q.data(), chunk.neighbours(args.k, at), n, shape, z.data(), chunk.ahead(args.k));
      if (with_edges) {
        ops.dot_rows(q.data(), extra, n, shape, z_edge.data(), Ahead());
        add(z.data(), z_edge.data(), n * shape.padded);
      }
      online.weigh(chunk, z.data());
      online.add(chunk, z.data(), chunk.neighbours(args.v, at), chunk.ahead(args.v));
      if (with_edges) online.add(chunk, z.data(), extra, Ahead());
    }
    online.finish(args.out, i, slot);
  });
}

// dq_i = sum dz (k_j + e) / sqrt(D); de = dz q_i / sqrt(D) + p mask dy_i.
template <class T>
void backward_by_row(const TransformerBackward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const int features = shape.features();
  const bool with_edges = args.e.data != nullptr;
  const A scale = inverse_root<A>(shape.dim);
  Chunk<T> chunk(args.walk, with_edges || args.d_e.data != nullptr);
  BackwardScratch<A> scratch(shape);
  const HeadMap<A> map = ops.make_head_map(shape);
  std::vector<A> q(static_cast<size_t>(features + kPad)), dy(q.size()), sum(q.size());
  int64_t at_k[kChunk], at_v[kChunk], at_edge[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    scratch.load_destination(ops, args.destinations, i, shape.padded);
    ops.load_values(args.q.row<T>(i), features, q.data());
    multiply(q.data(), scale, features);
    ops.load_values(args.dy.row<T>(i), features, dy.data());
    bool fresh = true;
    for (; edge < end; edge += kChunk) {
      const int n = static_cast<int>(std::min<int64_t>(kChunk, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> keys = chunk.neighbours(args.k, at_k), extra = chunk.edges(args.e, at_edge);
      ops.dot_rows(q.data(), keys, n, shape, scratch.z, chunk.ahead(args.k));
      ops.dot_rows(dy.data(), chunk.neighbours(args.v, at_v), n, shape, scratch.dp, chunk.ahead(args.v));
      if (with_edges) {
        ops.dot_rows(q.data(), extra, n, shape, scratch.lse, Ahead());
        add(scratch.z, scratch.lse, n * shape.padded);
        ops.dot_rows(dy.data(), extra, n, shape, scratch.delta, Ahead());
        add(scratch.dp, scratch.delta, n * shape.padded);
      }
      ops.softmax_gradient(true, n, shape.padded, scratch.own, scratch.own_lse, scratch.own_delta, chunk.factors(),
                           A{1}, scratch.z, scratch.dp, scratch.sum);
      ops.add_weighted(keys, n, scratch.dp, map, fresh, sum.data(), Ahead());
      fresh = false;
      if (with_edges) ops.add_weighted(extra, n, scratch.dp, map, false, sum.data(), Ahead());
      if (args.d_e.data != nullptr) {
        for (int k = 0; k < n; ++k) at_edge[k] = chunk.positions()[k] * args.d_e.stride;
        ops.outer_rows(n, scratch.dp, q.data(), scratch.z, dy.data(), map, static_cast<T*>(args.d_e.data), at_edge);
      }
    }
    if (fresh) std::fill(sum.begin(), sum.end(), A{0});
    multiply(sum.data(), scale, features);
    if (slot >= 0)
      std::copy_n(sum.data(), features, static_cast<A*>(args.part.data) + slot * args.part.width);
    else
      ops.store_values(sum.data(), shape.features(), args.d_q.row<T>(i));
  });
}

// dk_j = sum dz q_i / sqrt(D); dv_j = sum p mask dy_i.
template <class T>
void backward_by_column(const TransformerBackward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const int features = shape.features();
  const bool with_edges = args.e.data != nullptr;
  const A scale = inverse_root<A>(shape.dim);
  const int chunk_size = chunk_edges(2 * int64_t{features} * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, with_edges);
  BackwardScratch<A> scratch(shape);
  const HeadMap<A> map = ops.make_head_map(shape);
  std::vector<A> key(static_cast<size_t>(features + kPad)), value(key.size()), sum_key(key.size()),
      sum_value(key.size());
  std::vector<A> dots(static_cast<size_t>(shape.chunk_values()));
  int64_t at_q[kChunk], at_dy[kChunk], at_edge[kChunk];
  each_row(args.walk, [&](int64_t j, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    std::fill_n(scratch.own, shape.padded + kPad, A{0});
    ops.load_values(args.k.row<T>(j), features, key.data());
    ops.load_values(args.v.row<T>(j), features, value.data());
    bool fresh = true;
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> queries = chunk.neighbours(args.q, at_q), gradients = chunk.neighbours(args.dy, at_dy);
      const Rows<T> extra = chunk.edges(args.e, at_edge);
      ops.dot_rows(key.data(), queries, n, shape, scratch.z, chunk.ahead(args.q));
      ops.dot_rows(value.data(), gradients, n, shape, scratch.dp, chunk.ahead(args.dy));
      if (with_edges) {
        ops.dot_pairs(queries, extra, n, shape, dots.data(), Ahead());
        add(scratch.z, dots.data(), n * shape.padded);
        ops.dot_pairs(gradients, extra, n, shape, dots.data(), Ahead());
        add(scratch.dp, dots.data(), n * shape.padded);
      }
      multiply(scratch.z, scale, n * shape.padded);
      scratch.gather_destinations(args.destinations, chunk.col(), n, chunk.edges_left(), shape.padded, false);
      ops.softmax_gradient(false, n, shape.padded, scratch.own, scratch.lse, scratch.delta, chunk.factors(), A{1},
                           scratch.z, scratch.dp, scratch.sum);
      ops.add_weighted(queries, n, scratch.dp, map, fresh, sum_key.data(), Ahead());
      ops.add_weighted(gradients, n, scratch.z, map, fresh, sum_value.data(), Ahead());
      fresh = false;
    }
    if (fresh) {
      std::fill(sum_key.begin(), sum_key.end(), A{0});
      std::fill(sum_value.begin(), sum_value.end(), A{0});
    }
    multiply(sum_key.data(), scale, features);
    if (slot >= 0) {
      A* part = static_cast<A*>(args.part.data) + slot * args.part.width;
      std::copy_n(sum_value.data(), features, std::copy_n(sum_key.data(), features, part));
      return;
    }
    ops.store_values(sum_key.data(), shape.features(), args.d_k.row<T>(j));
    ops.store_values(sum_value.data(), shape.features(), args.d_v.row<T>(j));
  });
}

}  // namespace

void transformer_forward(const TransformerForward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { forward<decltype(t)>(args); });
}
void transformer_backward_by_row(const TransformerBackward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_row<decltype(t)>(args); });
}
void transformer_backward_by_column(const TransformerBackward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_column<decltype(t)>(args); });
}

}  // namespace pantile::sparse
