#pragma once

#include <algorithm>
#include <vector>

#include "sparse/kernels/attention.h"
#include "sparse/kernels/edge_chunk.h"

/// The walk over rows and chunks that the attentions share.
namespace pantile::sparse {

// Calls body(T()) with the storage type of the walk.
template <class Body>
inline void for_dtype(DType dtype, Body body) {
  switch (dtype) {
    case DType::f64:
      return body(double());
    case DType::bf16:
      return body(BFloat16());
    case DType::f16:
      return body(Float16());
    default:
      return body(float());
  }
}

// Calls row(i, first edge, end, slot) for the rows and segments of the units; slot is -1 for a whole row.
template <class Row>
inline void each_row(const EdgeWalk& walk, Row row) {
  for (const Unit& u : walk.units) {
    if (u.slot >= 0) {
      row(u.row, u.edge, u.edge_end, u.slot);
      continue;
    }
    for (int64_t i = u.row; i < u.row_end; ++i) row(i, walk.csr.ptr[i], walk.csr.ptr[i + 1], int32_t{-1});
  }
}

// One chunk of a row's edges: where it begins, and the rows, positions and dropout factors of its edges.
template <class T>
class Chunk {
 public:
  using A = AccumulatorOf<T>;
  Chunk(const EdgeWalk& walk, bool positions)
      : walk_(walk),
        end_(walk.csr.edges()),
        positions_(positions || walk.threshold != 0),
        distance_(prefetch_distance(walk.shape.features())) {
    if (walk.threshold != 0) factors_.resize(static_cast<size_t>(walk.shape.chunk_values()));
  }
  // Edges [at, at + n) of walk.csr.
  void move_to(int64_t at, int n) {
    at_ = at;
    n_ = n;
    if (positions_)
      for (int k = 0; k < n; ++k) position_[k] = walk_.perm == nullptr ? at + k : walk_.perm[at + k];
    if (walk_.threshold == 0) return;
    int64_t ids[kChunk];
    for (int k = 0; k < n; ++k) ids[k] = walk_.edge_id == nullptr ? position_[k] : walk_.edge_id[position_[k]];
    dropout_factors(walk_.seed, walk_.threshold, static_cast<A>(walk_.scale), ids, n, walk_.shape, factors_.data());
  }
  int size() const { return n_; }
  const int32_t* col() const { return walk_.csr.col + at_; }
  int64_t edges_left() const { return end_ - at_; }  // columns that may be read from col() on
  const int64_t* positions() const { return position_; }
  // Null without dropout.
  const A* factors() const { return factors_.empty() ? nullptr : factors_.data(); }

  // Rows of a node table by column, offsets kept in `at` (kChunk entries).
  Rows<T> neighbours(Values table, int64_t* at) const {
    const int32_t* c = col();
    for (int k = 0; k < n_; ++k) at[k] = c[k] * table.stride;
    return {static_cast<const T*>(table.data), at};
  }
  // Rows of an edge table by CSR position; base stays null when there is none.
  Rows<T> edges(Values table, int64_t* at) const {
    if (table.data == nullptr) return {};
    for (int k = 0; k < n_; ++k) at[k] = position_[k] * table.stride;
    return {static_cast<const T*>(table.data), at};
  }
  Ahead ahead(Values table) const {
    return {static_cast<const char*>(table.data), col(), end_ - at_, table.stride * static_cast<int64_t>(sizeof(T)),
            distance_};
  }

 private:
  const EdgeWalk& walk_;
  int64_t end_, at_ = 0;
  int n_ = 0;
  bool positions_;
  int distance_;
  int64_t position_[kChunk];
  std::vector<A> factors_;
};

// One head is the usual case, and a call of memmove for it costs more than the copy.
template <class A>
inline void copy_heads(const A* from, int heads, A* to) {
  if (heads == 1) {
    *to = *from;
    return;
  }
  std::copy_n(from, heads, to);
}

template <class A>
void multiply(A* z, const A* factor, int values) {
  for (int i = 0; i < values; ++i) z[i] *= factor[i];
}
template <class A>
void multiply(A* z, A factor, int values) {
  for (int i = 0; i < values; ++i) z[i] *= factor;
}
template <class A>
void add(A* z, const A* more, int values) {
  for (int i = 0; i < values; ++i) z[i] += more[i];
}
// z[k, h] += table[position, h], edge terms of `heads` values.
template <class A>
inline void add_edge_terms(Values table, const int64_t* positions, int n, Heads shape, A* z) {
  for (int k = 0; k < n; ++k) {
    const A* row = table.row<A>(positions[k]);
    for (int h = 0; h < shape.heads; ++h) z[k * shape.padded + h] += row[h];
  }
}

// Forward: online softmax over the chunks of one row, values summed in the accumulator type.
template <class T>
class OnlineRow {
 public:
  using A = AccumulatorOf<T>;
  explicit OnlineRow(Heads shape)
      : ops_(edge_ops<T>()),
        map_(ops_.make_head_map(shape)),
        lanes_(static_cast<size_t>(4 * (shape.padded + kPad))),
        sum_(static_cast<size_t>(shape.features() + kPad)) {
    const int period = shape.padded + kPad;
    m_ = lanes_.data();
    s_ = m_ + period;
    scale_ = s_ + period;
    lse_ = scale_ + period;
  }
  const HeadMap<A>& map() const { return map_; }
  void begin() {
    ops_.softmax_begin(map_.shape.padded, m_, s_);
    fresh_ = true;
  }
  // Takes the logits z of a chunk and leaves their weights, dropout included, for add().
  void weigh(const Chunk<T>& chunk, A* z) {
    const bool grew = ops_.softmax_chunk(chunk.size(), map_.shape.padded, z, m_, s_, scale_);
    if (grew && !fresh_) ops_.scale_heads(scale_, map_, sum_.data());
    if (chunk.factors() != nullptr) multiply(z, chunk.factors(), chunk.size() * map_.shape.padded);
  }
  void add(const Chunk<T>& chunk, const A* weights, Rows<T> rows, Ahead ahead) {
    ops_.add_weighted(rows, chunk.size(), weights, map_, fresh_, sum_.data(), ahead);
    fresh_ = false;
  }
  void finish(const ForwardOutputs& out, int64_t row, int32_t slot) {
    const Heads shape = map_.shape;
    if (fresh_) std::fill(sum_.begin(), sum_.end(), A{0});
    if (slot >= 0) {
      ops_.join_repeats(shape.padded, s_);
      A* part = static_cast<A*>(out.part.data) + slot * out.part.width;
      std::copy_n(m_, shape.padded, part);
      std::copy_n(s_, shape.padded, part + shape.padded);
      std::copy_n(sum_.data(), shape.features(), part + 2 * shape.padded);
      return;
    }
    ops_.softmax_finish(shape.padded, m_, s_, scale_, lse_);
    ops_.store_row(sum_.data(), scale_, map_, out.y.row<T>(row));
    copy_heads(lse_, shape.heads, out.lse.row<A>(row));
  }

 private:
  const EdgeOps<T>& ops_;
  HeadMap<A> map_;
  std::vector<A> lanes_, sum_;
  A *m_, *s_, *scale_, *lse_;
  bool fresh_ = true;
};

// Scratch of a backward pass: logits that become weights, dots that become gradients, and what belongs to the other
// end.
template <class A>
struct BackwardScratch {
  explicit BackwardScratch(Heads shape)
      : values(static_cast<size_t>(4 * shape.chunk_values())), lanes(static_cast<size_t>(4 * (shape.padded + kPad))) {
    const int n = shape.chunk_values(), period = shape.padded + kPad;
    z = values.data();
    dp = z + n;
    lse = dp + n;
    delta = lse + n;
    own = lanes.data();
    own_lse = own + period;
    own_delta = own_lse + period;
    sum = own_delta + period;
  }
  std::vector<A> values, lanes;
  A *z, *dp, *lse, *delta;             // [kChunk, padded]
  A *own, *own_lse, *own_delta, *sum;  // lane arrays
  void begin(int padded) { std::fill_n(sum, padded + kPad, A{0}); }
  // The destination is this row.
  template <class T>
  void load_destination(const EdgeOps<T>& ops, Destinations table, int64_t row, int padded) {
    const A* packed = static_cast<const A*>(table.data) + row * 3 * padded;
    ops.repeat_heads(packed, padded, own);
    ops.repeat_heads(packed + padded, padded, own_lse);
    ops.repeat_heads(packed + 2 * padded, padded, own_delta);
  }
  // The destinations are the columns; their own logit terms go to z when asked for. `edges` columns may be read from
  // `col` on.
  void gather_destinations(Destinations table, const int32_t* col, int n, int64_t edges, int padded, bool terms) {
    switch (padded) {
      case 1:
        return gather_fixed<1>(table, col, n, edges, padded, terms);
      case 2:
        return gather_fixed<2>(table, col, n, edges, padded, terms);
      case 4:
        return gather_fixed<4>(table, col, n, edges, padded, terms);
      case 8:
        return gather_fixed<8>(table, col, n, edges, padded, terms);
      default:
        return gather_fixed<0>(table, col, n, edges, padded, terms);
    }
  }

 private:
  // kPadded: the padded heads where the compiler may know them (calls of memcpy for a few bytes cost more than the
  // copy), else 0.
  template <int kPadded>
  void gather_fixed(Destinations table, const int32_t* col, int n, int64_t edges, int padded_heads, bool terms) {
    constexpr int kDistance = 16;
    const int padded = kPadded > 0 ? kPadded : padded_heads;
    const A* base = static_cast<const A*>(table.data);
    for (int k = 0; k < n; ++k) {
      if (k + kDistance < edges) {
        const A* next = base + int64_t{col[k + kDistance]} * 3 * padded;
        __builtin_prefetch(next);
        if (kPadded >= 4) __builtin_prefetch(next + 2 * padded);
      }
      const A* packed = base + int64_t{col[k]} * 3 * padded;
      if (terms)
        for (int h = 0; h < padded; ++h) z[k * padded + h] = packed[h];
      for (int h = 0; h < padded; ++h) lse[k * padded + h] = packed[padded + h];
      for (int h = 0; h < padded; ++h) delta[k * padded + h] = packed[2 * padded + h];
    }
  }
};

}  // namespace pantile::sparse
