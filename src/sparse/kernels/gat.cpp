#include "sparse/kernels/attention_walk.h"

namespace pantile::sparse {
namespace {

template <class T>
void forward(const GatForward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const A *a_src = static_cast<const A*>(args.a_src), *a_dst = static_cast<const A*>(args.a_dst);
  const bool edge_terms = args.a_edge.data != nullptr;
  Chunk<T> chunk(args.walk, edge_terms);
  OnlineRow<T> online(shape);
  std::vector<A> z(static_cast<size_t>(shape.chunk_values())), own(static_cast<size_t>(shape.padded + kPad));
  int64_t at[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    online.begin();
    ops.repeat_heads(a_dst + i * shape.padded, shape.padded, own.data());
    for (; edge < end; edge += kChunk) {
      const int n = static_cast<int>(std::min<int64_t>(kChunk, end - edge));
      chunk.move_to(edge, n);
      ops.gather_heads(a_src, chunk.col(), n, chunk.edges_left(), shape.padded, z.data());
      if (edge_terms) add_edge_terms(args.a_edge, chunk.positions(), n, shape, z.data());
      ops.leaky_logits(n, shape.padded, own.data(), static_cast<A>(args.slope), z.data());
      online.weigh(chunk, z.data());
      online.add(chunk, z.data(), chunk.neighbours(args.v, at), chunk.ahead(args.v));
    }
    online.finish(args.out, i, slot);
  });
}

// da_dst = sum dz; d a_edge = dz. The logit is a_dst (this row's own term) + a_src of the column.
template <class T>
void backward_by_row(const GatBackward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const A* a_src = static_cast<const A*>(args.a_src);
  const bool edge_terms = args.a_edge.data != nullptr, edge_gradient = args.d_edge.data != nullptr;
  Chunk<T> chunk(args.walk, edge_terms || edge_gradient);
  BackwardScratch<A> scratch(shape);
  std::vector<A> dy(static_cast<size_t>(shape.features() + kPad));
  int64_t at[kChunk];
  each_row(args.walk, [&](int64_t i, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    scratch.load_destination(ops, args.destinations, i, shape.padded);
    ops.load_values(args.dy.row<T>(i), shape.features(), dy.data());
    for (; edge < end; edge += kChunk) {
      const int n = static_cast<int>(std::min<int64_t>(kChunk, end - edge));
      chunk.move_to(edge, n);
      ops.gather_heads(a_src, chunk.col(), n, chunk.edges_left(), shape.padded, scratch.z);
      if (edge_terms) add_edge_terms(args.a_edge, chunk.positions(), n, shape, scratch.z);
      ops.dot_rows(dy.data(), chunk.neighbours(args.v, at), n, shape, scratch.dp, chunk.ahead(args.v));
      ops.softmax_gradient(true, n, shape.padded, scratch.own, scratch.own_lse, scratch.own_delta, chunk.factors(),
                           static_cast<A>(args.slope), scratch.z, scratch.dp, scratch.sum);
      if (edge_gradient)
        for (int k = 0; k < n; ++k)
          std::copy_n(scratch.dp + k * shape.padded, shape.heads, args.d_edge.row<A>(chunk.positions()[k]));
    }
    ops.join_repeats(shape.padded, scratch.sum);
    if (slot >= 0)
      std::copy_n(scratch.sum, shape.padded, static_cast<A*>(args.part.data) + slot * args.part.width);
    else
      copy_heads(scratch.sum, shape.heads, args.d_node.row<A>(i));
  });
}

// Rows are sources now: da_src = sum dz, dv = sum p mask dy. A chunk's dots come first; its rows are then still in the
// cache.
template <class T>
void backward_by_column(const GatBackward& args) {
  using A = AccumulatorOf<T>;
  const EdgeOps<T>& ops = edge_ops<T>();
  const Heads shape = args.walk.shape;
  const A* a_src = static_cast<const A*>(args.a_src);
  const bool edge_terms = args.a_edge.data != nullptr;
  const int chunk_size = chunk_edges(static_cast<int64_t>(shape.features()) * static_cast<int64_t>(sizeof(T)));
  Chunk<T> chunk(args.walk, edge_terms);
  BackwardScratch<A> scratch(shape);
  const HeadMap<A> map = ops.make_head_map(shape);
  std::vector<A> v(static_cast<size_t>(shape.features() + kPad)), sum(v.size());
  int64_t at[kChunk];
  each_row(args.walk, [&](int64_t j, int64_t edge, int64_t end, int32_t slot) {
    scratch.begin(shape.padded);
    ops.repeat_heads(a_src + j * shape.padded, shape.padded, scratch.own);
    ops.load_values(args.v.row<T>(j), shape.features(), v.data());
    bool fresh = true;
    for (; edge < end; edge += chunk_size) {
      const int n = static_cast<int>(std::min<int64_t>(chunk_size, end - edge));
      chunk.move_to(edge, n);
      scratch.gather_destinations(args.destinations, chunk.col(), n, chunk.edges_left(), shape.padded, true);
      if (edge_terms) add_edge_terms(args.a_edge, chunk.positions(), n, shape, scratch.z);
      const Rows<T> rows = chunk.neighbours(args.dy, at);
      ops.dot_rows(v.data(), rows, n, shape, scratch.dp, chunk.ahead(args.dy));
      ops.softmax_gradient(false, n, shape.padded, scratch.own, scratch.lse, scratch.delta, chunk.factors(),
                           static_cast<A>(args.slope), scratch.z, scratch.dp, scratch.sum);
      ops.add_weighted(rows, n, scratch.z, map, fresh, sum.data(), Ahead());
      fresh = false;
    }
    if (fresh) std::fill(sum.begin(), sum.end(), A{0});
    ops.join_repeats(shape.padded, scratch.sum);
    if (slot >= 0) {
      A* part = static_cast<A*>(args.part.data) + slot * args.part.width;
      std::copy_n(scratch.sum, shape.padded, part);
      std::copy_n(sum.data(), shape.features(), part + shape.padded);
      return;
    }
    copy_heads(scratch.sum, shape.heads, args.d_node.row<A>(j));
    ops.store_values(sum.data(), shape.features(), args.d_v.row<T>(j));
  });
}

}  // namespace

void gat_forward(const GatForward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { forward<decltype(t)>(args); });
}
void gat_backward_by_row(const GatBackward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_row<decltype(t)>(args); });
}
void gat_backward_by_column(const GatBackward& args) {
  for_dtype(args.walk.dtype, [&](auto t) { backward_by_column<decltype(t)>(args); });
}

}  // namespace pantile::sparse
