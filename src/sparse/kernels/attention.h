#pragma once

#include <pantile/core/dtype.h>
#include <pantile/graph/graph.h>
#include <pantile/sparse/plan.h>

#include <cstdint>
#include <span>

#include "sparse/kernels/edge_chunk.h"

/// Plain signatures of the attention kernels: one call per range of units, dispatched at run time. "values" stands for
/// the storage type `dtype`, "acc" for its accumulator (f32, or f64 for f64). Strides are in elements.
namespace pantile::sparse {

/// The walk common to every pass: rows of `csr`, which is the graph or its transpose.
struct EdgeWalk {
  Csr csr;
  const int64_t* perm = nullptr;     ///< position in csr -> CSR position of the graph; null: identity
  const int64_t* edge_id = nullptr;  ///< CSR position -> caller's edge; null: identity
  std::span<const Unit> units;
  DType dtype = DType::f32;
  Heads shape;
  /// Dropout: an edge's head is dropped when its random word is below the threshold, else scaled. 0: no dropout.
  uint64_t seed = 0, threshold = 0;
  double scale = 1;
};

/// Features [., F] of dtype `walk.dtype`.
struct Values {
  const void* data = nullptr;
  int64_t stride = 0;
  template <class T>
  const T* row(int64_t i) const {
    return static_cast<const T*>(data) + i * stride;
  }
};
struct MutableValues {
  void* data = nullptr;
  int64_t stride = 0;
  template <class T>
  T* row(int64_t i) const {
    return static_cast<T*>(data) + i * stride;
  }
};

/// Results of hub segments. A forward slot holds m, s (padded heads each) and the unscaled sum; a backward slot its
/// sums.
struct Partials {
  void* data = nullptr;  ///< acc [slots, width]
  int64_t width = 0;
};

/// Forward of one destination row: y and lse [rows, heads] acc.
struct ForwardOutputs {
  MutableValues y, lse;
  Partials part;
};

/// What a backward pass needs to know of every destination, packed so that one edge reads one place:
/// acc [rows, 3, padded] = logit term of the row (GAT's a_dst, else 0), lse, <dy, y>.
struct Destinations {
  const void* data = nullptr;
};

struct GatForward {
  EdgeWalk walk;
  const void *a_src = nullptr, *a_dst = nullptr;  ///< acc [., padded]
  Values a_edge;                                  ///< acc [E, heads] or null
  double slope = 0;
  Values v;
  ForwardOutputs out;
};
void gat_forward(const GatForward& args);

struct GatBackward {
  EdgeWalk walk;
  const void* a_src = nullptr;  ///< acc [., padded]
  Destinations destinations;
  Values a_edge, v, dy;
  double slope = 0;
  MutableValues d_node;  ///< by row: d a_dst; by column: d a_src; acc [., heads]
  MutableValues d_edge;  ///< by row: d a_edge, acc [E, heads], or null
  MutableValues d_v;     ///< by column
  Partials part;         ///< by row: padded heads; by column: padded heads, then features
};
void gat_backward_by_row(const GatBackward& args);
void gat_backward_by_column(const GatBackward& args);

struct Gatv2Forward {
  EdgeWalk walk;
  Values l, r, e;           ///< e may be null
  const void* a = nullptr;  ///< acc [F]
  double slope = 0;
  ForwardOutputs out;
};
void gatv2_forward(const Gatv2Forward& args);

struct Gatv2Backward {
  EdgeWalk walk;
  Values l, r, e, dy;
  const void* a = nullptr;
  Destinations destinations;
  double slope = 0;
  MutableValues d_row;  ///< by row: dr; by column: dl
  MutableValues d_e;    ///< by row; or null
  void* d_a = nullptr;  ///< by row: acc [F], written
  Partials part;        ///< features
};
void gatv2_backward_by_row(const Gatv2Backward& args);
void gatv2_backward_by_column(const Gatv2Backward& args);

struct TransformerForward {
  EdgeWalk walk;
  Values q, k, v, e;
  ForwardOutputs out;
};
void transformer_forward(const TransformerForward& args);

struct TransformerBackward {
  EdgeWalk walk;
  Values q, k, v, e, dy;
  Destinations destinations;
  MutableValues d_q, d_e;  ///< by row; d_e may be null
  MutableValues d_k, d_v;  ///< by column
  Partials part;           ///< by row: features; by column: features of dk, then of dv
};
void transformer_backward_by_row(const TransformerBackward& args);
void transformer_backward_by_column(const TransformerBackward& args);

struct AgnnForward {
  EdgeWalk walk;
  Values x;
  const void* inverse_norm = nullptr;  ///< acc [rows]
  double beta = 1;
  ForwardOutputs out;
};
void agnn_forward(const AgnnForward& args);

struct AgnnBackward {
  EdgeWalk walk;
  Values x, dy;
  const void* inverse_norm = nullptr;
  double beta = 1;
  Destinations destinations;
  void* d_unit =
      nullptr;        ///< acc [rows, F], gradient of the unit vectors x / |x|: by row writes it, by column reads it
  MutableValues d_x;  ///< by column
  double* d_beta = nullptr;  ///< by row: written
  Partials part;             ///< by row: features; by column: features of d_unit, then of the values
};
/// |x| counts as at least this much.
inline constexpr double kSmallestNorm = 1e-12;
void agnn_backward_by_row(const AgnnBackward& args);
void agnn_backward_by_column(const AgnnBackward& args);
/// After agnn_backward_by_column: joins the segments of one hub.
void agnn_join_columns(const AgnnBackward& args, const Hub& hub);

/// factors[k, h] = 0 or scale, for n edges given by the caller's edge ids; [n, padded], padded heads get 0.
void dropout_factors(uint64_t seed, uint64_t threshold, float scale, const int64_t* edge_ids, int n, Heads shape,
                     float* factors);
void dropout_factors(uint64_t seed, uint64_t threshold, double scale, const int64_t* edge_ids, int n, Heads shape,
                     double* factors);

}  // namespace pantile::sparse
