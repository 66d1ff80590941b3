#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/sparse/plan.h>

/// Fused attention (design: online softmax over the edges of a row; nothing of size E * F is ever stored).
/// Common to all: H heads, D features per head, F = H * D; N = graph.rows() destinations, M = graph.cols() sources, E
/// edges in CSR order. Features may be f32, f64, bf16 or f16; logits, lse and softmax are f32 (f64 for f64 features),
/// and so are a_src, a_dst, a_edge; gradients have the dtype of what they belong to. A row whose logits are all -inf
/// gives 0 and lse 0; NaN stays in its row and head. Dropout keeps an edge's head with probability 1 - p and scales by
/// 1 / (1 - p); the mask comes from Philox(seed, the caller's edge id, head) and is regenerated in the backward pass,
/// never stored. Bitwise equal for any thread count. An empty row gives 0. Matrices are dense or row-strided; vectors
/// "per node and head" are [rows, H].
namespace pantile::sparse {

struct AttentionDropout {
  double probability = 0;  ///< in [0, 1)
  uint64_t seed = 0;
};

/// The factors M that an attention with `heads` heads multiplies its weights by: 0 or 1 / (1 - p). factors: [E, heads]
/// f32 or f64, CSR order. For tests and for whoever composes the operation from others; the attentions themselves never
/// store them.
Status attention_dropout_factors(const Plan& plan, int64_t heads, const AttentionDropout& dropout, Matrix factors);

/// GAT (Velickovic et al. 2018): z = leaky_relu(a_src[j, h] + a_dst[i, h] + a_edge[k, h]); y_i = sum_j softmax(z) v_j.
struct GatInputs {
  ConstMatrix a_src;   ///< [M, H]
  ConstMatrix a_dst;   ///< [N, H]
  ConstMatrix a_edge;  ///< [E, H] or data == nullptr
  ConstMatrix v;       ///< [M, F]
  int64_t heads = 1;
  double negative_slope = 0.2;
  AttentionDropout dropout;
};
/// y [N, F] (dtype of v); lse [N, H] accumulator type: max + log(sum), 0 for an empty row.
Status gat(const Plan& plan, const GatInputs& in, Matrix y, Matrix lse);
struct GatGradients {
  Matrix a_src, a_dst;  ///< [M, H], [N, H]
  Matrix a_edge;        ///< [E, H] or data == nullptr
  Matrix v;             ///< [M, F]
};
Status gat_grad(const Plan& plan, const GatInputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                const GatGradients& out);

/// GATv2 (Brody et al. 2022): q = l_j + r_i (+ e_k); z = <a_h, leaky_relu(q)>; y_i = sum softmax(z) l_j.
struct Gatv2Inputs {
  ConstMatrix l;  ///< [M, F] sources, also the values
  ConstMatrix r;  ///< [N, F] destinations
  ConstMatrix e;  ///< [E, F] or data == nullptr
  ConstMatrix a;  ///< [H, D], dtype of the features or of the logits
  int64_t heads = 1;
  double negative_slope = 0.2;
  AttentionDropout dropout;
};
Status gatv2(const Plan& plan, const Gatv2Inputs& in, Matrix y, Matrix lse);
struct Gatv2Gradients {
  Matrix l, r, e, a;  ///< shapes of the inputs; e may have data == nullptr
};
Status gatv2_grad(const Plan& plan, const Gatv2Inputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                  const Gatv2Gradients& out);

/// Graph transformer (Shi et al. 2021): z = <q_i, k_j + e> / sqrt(D); y_i = sum softmax(z) (v_j + e).
struct TransformerInputs {
  ConstMatrix q;  ///< [N, F]
  ConstMatrix k;  ///< [M, F]
  ConstMatrix v;  ///< [M, F]
  ConstMatrix e;  ///< [E, F] or data == nullptr
  int64_t heads = 1;
  AttentionDropout dropout;
};
Status transformer(const Plan& plan, const TransformerInputs& in, Matrix y, Matrix lse);
struct TransformerGradients {
  Matrix q, k, v, e;
};
Status transformer_grad(const Plan& plan, const TransformerInputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                        const TransformerGradients& out);

/// AGNN (Thekumparampil et al. 2018): z = beta * cos(x_i, x_j); y_i = sum softmax(z) x_j. Square graphs; norms clamped
/// at 1e-12.
struct AgnnInputs {
  ConstMatrix x;  ///< [N, F]
  double beta = 1;
};
Status agnn(const Plan& plan, const AgnnInputs& in, Matrix y, Matrix lse);
struct AgnnGradients {
  Matrix x;
  double* beta = nullptr;
};
Status agnn_grad(const Plan& plan, const AgnnInputs& in, ConstMatrix y, ConstMatrix lse, ConstMatrix dy,
                 const AgnnGradients& out);

}  // namespace pantile::sparse
