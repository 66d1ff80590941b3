#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

// z = <a, leaky(l_j + r_i (+ e))>, values l_j.
template <class T>
void forward(const Gatv2Forward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const A* a = static_cast<const A*>(args.a);
  const int chunk_size = chunk_edges(static_cast<int64_t>(shape.features()) * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, args.e.data != nullptr);
  OnlineRow<T> online(shape);
  std::vector<A> z(static_cast<size_t>(shape.chunk_values())), r(static_cast<size_t>(shape.features() + kPad));
  int64_t at[kChunk], at_edge[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    online.begin();
    ops.load_values(args.r.row<T>(i), shape.features(), r.data());
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> rows = chunk.neighbours(args.l, at);
      ops.dot_leaky(r.data(), a, rows, chunk.edges(args.e, at_edge), n, shape, static_cast<A>(args.slope), z.data(),
                    chunk.ahead(args.l));
      online.weigh(chunk, z.data());
      online.add(chunk, z.data(), rows, Ahead());
    }
    online.finish(args.out, i, slot);
  });
}

// dr_i = sum dq with dq = dz a leaky'(q); de = dq; da = sum dz leaky(q).
template <class T>
void backward_by_row(const Gatv2Backward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const int features = shape.features();
  const A *a = static_cast<const A*>(args.a), slope = static_cast<A>(args.slope);
  const int chunk_size = chunk_edges(static_cast<int64_t>(features) * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, args.e.data != nullptr || args.d_e.data != nullptr);
  BackwardScratch<A> scratch(shape);
  const HeadMap<A> map = ops.make_head_map(shape);
  std::vector<A> r(static_cast<size_t>(features + kPad)), dy(r.size()), sum(r.size()), d_a(r.size());
  int64_t at[kChunk], at_edge[kChunk], at_gradient[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    scratch.load_destination(ops, args.destinations, i, shape.padded);
    ops.load_values(args.r.row<T>(i), features, r.data());
    ops.load_values(args.dy.row<T>(i), features, dy.data());
    std::fill(sum.begin(), sum.end(), A{0});
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> rows = chunk.neighbours(args.l, at), extra = chunk.edges(args.e, at_edge);
      ops.dot_leaky(r.data(), a, rows, extra, n, shape, slope, scratch.z, chunk.ahead(args.l));
      ops.dot_rows(dy.data(), rows, n, shape, scratch.dp, Ahead());
      ops.softmax_gradient(true, n, shape.padded, scratch.own, scratch.own_lse, scratch.own_delta, chunk.factors(),
                           A{1}, scratch.z, scratch.dp, scratch.sum);
      if (args.d_e.data != nullptr)
        for (int k = 0; k < n; ++k) at_gradient[k] = chunk.positions()[k] * args.d_e.stride;
      ops.leaky_gradient(r.data(), a, rows, extra, n, scratch.dp, map, slope, sum.data(), d_a.data(),
                         static_cast<T*>(args.d_e.data), at_gradient);
    }
    if (slot >= 0)
      std::copy_n(sum.data(), features, static_cast<A*>(args.part.data) + slot * args.part.width);
    else
      ops.store_values(sum.data(), shape.features(), args.d_row.row<T>(i));
  });
  std::copy_n(d_a.data(), features, static_cast<A*>(args.d_a));
}

// dl_j = sum dq + p mask dy_i: the source enters the logit and is the value.
template <class T>
void backward_by_column(const Gatv2Backward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const int features = shape.features();
  const A *a = static_cast<const A*>(args.a), slope = static_cast<A>(args.slope);
  const int chunk_size = chunk_edges(2 * int64_t{features} * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, args.e.data != nullptr);
  BackwardScratch<A> scratch(shape);
  const HeadMap<A> map = ops.make_head_map(shape);
  std::vector<A> l(static_cast<size_t>(features + kPad)), sum(l.size());
  int64_t at_r[kChunk], at_dy[kChunk], at_edge[kChunk];
  each_row(args.walk, [&](int64_t j, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    std::fill_n(scratch.own, shape.padded + kPad, A{0});
    ops.load_values(args.l.row<T>(j), features, l.data());
    std::fill(sum.begin(), sum.end(), A{0});
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      const Rows<T> rows = chunk.neighbours(args.r, at_r), gradients = chunk.neighbours(args.dy, at_dy);
      const Rows<T> extra = chunk.edges(args.e, at_edge);
      ops.dot_leaky(l.data(), a, rows, extra, n, shape, slope, scratch.z, chunk.ahead(args.r));
      ops.dot_rows(l.data(), gradients, n, shape, scratch.dp, chunk.ahead(args.dy));
      scratch.gather_destinations(args.destinations, chunk.col(), n, chunk.edges_left(), shape.padded, false);
      ops.softmax_gradient(false, n, shape.padded, scratch.own, scratch.lse, scratch.delta, chunk.factors(), A{1},
                           scratch.z, scratch.dp, scratch.sum);
      ops.leaky_gradient(l.data(), a, rows, extra, n, scratch.dp, map, slope, sum.data(), nullptr, nullptr, nullptr);
      ops.add_weighted(gradients, n, scratch.z, map, false, sum.data(), Ahead());
    }
    if (slot >= 0)
      std::copy_n(sum.data(), features, static_cast<A*>(args.part.data) + slot * args.part.width);
    else
      ops.store_values(sum.data(), shape.features(), args.d_row.row<T>(j));
  });
}

}  // namespace

void gatv2_forward(const Gatv2Forward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { forward<decltype(t)>(args); });
}
void gatv2_backward_by_row(const Gatv2Backward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_row<decltype(t)>(args); });
}
void gatv2_backward_by_column(const Gatv2Backward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_column<decltype(t)>(args); });
}

}  // namespace pantile::sparse
