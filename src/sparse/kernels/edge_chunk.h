#pragma once

#include <pantile/core/dtype.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

/// What the edge kernels have in common. A row is walked in chunks of at most kChunk edges; per chunk, values of edges
/// and heads lie in scratch as [edges, padded heads], so that one vector holds whole edges or part of one edge, never a
/// mixture that moves from chunk to chunk.
namespace pantile::sparse {

inline constexpr int kChunk = 64;
/// Elements that may be read or written behind the last edge of a chunk: one vector of floats, or one group of four
/// dots.
inline constexpr int kPad = 16;

/// Heads and their padding. Invariants: padded >= heads; padded is a power of two up to 16, a multiple of 16 beyond, so
/// that it divides or is divided by the lanes of every vector.
struct Heads {
  int heads = 1, dim = 0, padded = 1;
  int features() const { return heads * dim; }
  /// Values of one chunk, its padding included.
  int chunk_values() const { return kChunk * padded + 2 * kPad; }
};
constexpr Heads make_heads(int64_t heads, int64_t dim) {
  int padded = 1;
  while (padded < heads) padded = padded < 16 ? padded * 2 : padded + 16;
  return {static_cast<int>(heads), static_cast<int>(dim), padded};
}

/// The rows that the edges of a chunk read: row k starts at base + at[k] (elements).
template <class T>
struct Rows {
  const T* base = nullptr;
  const int64_t* at = nullptr;
  const T* operator[](int k) const { return base + at[k]; }
};

/// Where the rows of later edges lie, for prefetching: edge k of the chunk asks for the row of edge k + distance, as
/// long as that is one of the `edges` edges from the start of the chunk to the end of the graph. base == nullptr: no
/// prefetch.
struct Ahead {
  const char* base = nullptr;
  const int32_t* col = nullptr;
  int64_t edges = 0, stride_bytes = 0;
  int distance = 0;
};

template <class T>
using AccumulatorOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Which head each lane of a feature row belongs to. Vector j of the row takes its weights from the values that start
/// at first[j]; when the head size is a multiple of the lanes that is one value for all, else `index` picks one per
/// lane.
template <class A>
struct HeadMap {
  using Index = std::conditional_t<sizeof(A) == 8, int64_t, int32_t>;
  Heads shape;
  bool broadcast = true;
  std::vector<int> first;
  std::vector<Index> index;
};

/// Values that belong to heads, repeated to fill a vector ("lane arrays"), need room for this many elements.
constexpr int lane_values(int padded) { return padded + kPad; }

/// The primitives of the edge kernels for features stored as T, made for the instruction set of this machine. Each
/// works on one chunk or one row, so that the attentions above them are compositions compiled once.
template <class T>
struct EdgeOps {
  using A = AccumulatorOf<T>;

  /// out[k, h] = <own[h, :], rows[k][h, :]>; own in the accumulator type. Four dots at a time share the row loads and
  /// one transpose-add tree. A dot does not depend on its place in the chunk. May write kPad values behind the last
  /// edge.
  void (*dot_rows)(const A* own, Rows<T> rows, int n, Heads shape, A* out, const Ahead& ahead);
  /// The same with a row of its own on either side.
  void (*dot_pairs)(Rows<T> lhs, Rows<T> rhs, int n, Heads shape, A* out, const Ahead& ahead);
  /// out[k, h] = <a[h, :], leaky(own[h, :] + rows[k][h, :] (+ extra[k][h, :]))>; extra.base may be null.
  void (*dot_leaky)(const A* own, const A* a, Rows<T> rows, Rows<T> extra, int n, Heads shape, A slope, A* out,
                    const Ahead& ahead);

  HeadMap<A> (*make_head_map)(Heads shape);
  /// sum[f] (+)= over k of w[k, head(f)] * rows[k][f]; fresh: sum is written, not added to.
  void (*add_weighted)(Rows<T> rows, int n, const A* w, const HeadMap<A>& map, bool fresh, A* sum, const Ahead& ahead);
  /// sum[f] *= w[head(f)]
  void (*scale_heads)(const A* w, const HeadMap<A>& map, A* sum);
  /// out[f] = sum[f] * w[head(f)], rounded once.
  void (*store_row)(const A* sum, const A* w, const HeadMap<A>& map, T* out);
  void (*store_values)(const A* values, int n, T* out);
  /// Writes whole vectors: `out` has room for kPad values more.
  void (*load_values)(const T* values, int n, A* out);

  /// out[k, :] = table[col[k], :], rows of `padded` values; `edges` columns may be read from col on, for prefetching.
  void (*gather_heads)(const A* table, const int32_t* col, int n, int64_t edges, int padded, A* out);
  /// lane[i] = row[i % padded]
  void (*repeat_heads)(const A* row, int padded, A* lane);
  /// z = leaky(z + lane), in place.
  void (*leaky_logits)(int n, int padded, const A* lane, A slope, A* z);
  /// Running maximum m and sum s of one row (lane arrays; s is split over the repeats of a head until softmax_finish).
  /// On return z holds exp(z - m); when the maximum grew, `scale` holds what older sums must be multiplied by and the
  /// result is true.
  void (*softmax_begin)(int padded, A* m, A* s);
  bool (*softmax_chunk)(int n, int padded, A* z, A* m, A* s, A* scale);
  /// Joins the repeats of s, then inverse = 1 / s and lse = m + log(s), both 0 where s == 0 (no edges, or all at -inf).
  void (*softmax_finish)(int padded, const A* m, A* s, A* inverse, A* lse);
  /// z <- exp(z - shift) * factor, lane arrays.
  void (*softmax_apply)(int n, int padded, const A* shift, const A* factor, A* z);
  /// Gradient of leaky + softmax. t = z + own; p = exp(leaky(t) - lse); z <- p * mask; dp <- p (mask * dp - delta)
  /// leaky'(t); sum += dp (lane array). shared: lse and delta are lane arrays (one destination), else [n, padded]. mask
  /// null: 1.
  void (*softmax_gradient)(bool shared, int n, int padded, const A* own, const A* lse, const A* delta, const A* mask,
                           A slope, A* z, A* dp, A* sum);
  /// Joins the repeats of a lane array of sums into every lane.
  void (*join_repeats)(int padded, A* sum);

  /// Through q = own + rows[k] (+ extra[k]) and z = <a, leaky(q)>: dq[k][f] = dz[k, head(f)] a[f] leaky'(q); d_own +=
  /// dq, d_a += dz leaky(q), d_extra[k] = dq. d_a may be null; d_extra.base may be null.
  void (*leaky_gradient)(const A* own, const A* a, Rows<T> rows, Rows<T> extra, int n, const A* dz,
                         const HeadMap<A>& map, A slope, A* d_own, A* d_a, T* d_extra, const int64_t* d_extra_at);
  /// out[k][f] = w1[k, head(f)] * x1[f] + w2[k, head(f)] * x2[f], to the rows out + at[k].
  void (*outer_rows)(int n, const A* w1, const A* x1, const A* w2, const A* x2, const HeadMap<A>& map, T* out,
                     const int64_t* at);
};

/// The primitives for this machine, chosen at the first call. T: double, float, BFloat16, Float16.
template <class T>
const EdgeOps<T>& edge_ops();

/// The tables of all storage types, as the sources of the primitives fill them.
struct EdgeOpsTables {
  EdgeOps<double> f64;
  EdgeOps<float> f32;
  EdgeOps<BFloat16> bf16;
  EdgeOps<Float16> f16;
};
void fill_edge_dot(EdgeOpsTables& tables);
void fill_edge_dot_leaky(EdgeOpsTables& tables);
void fill_edge_accumulate(EdgeOpsTables& tables);
void fill_edge_softmax(EdgeOpsTables& tables);
void fill_edge_gradient(EdgeOpsTables& tables);

/// Edges ahead whose rows are fetched: about 4 KiB of rows, measured best between 16 and 64 edges.
constexpr int prefetch_distance(int64_t features) {
  const int64_t edges = features > 0 ? 1024 / features : 64;
  return static_cast<int>(edges < 16 ? 16 : edges > 64 ? 64 : edges);
}
/// Edges per chunk of a pass that reads its rows twice: their bytes should still lie in the first-level cache.
constexpr int chunk_edges(int64_t row_bytes) {
  const int64_t edges = row_bytes > 0 ? 16384 / row_bytes : kChunk;
  return static_cast<int>(edges < 16 ? 16 : edges > kChunk ? kChunk : edges);
}

}  // namespace pantile::sparse
