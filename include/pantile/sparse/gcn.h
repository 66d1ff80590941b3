#pragma once

#include <pantile/core/buffer.h>
#include <pantile/sparse/spmm.h>
#include <memory>

namespace pantile::sparse {

/// pyg: s_i = 1/sqrt(sum of incoming weights incl. the loop) on both ends (PyG gcn_norm); both: DGL's "both"
/// (out-degree of the source, in-degree of the destination, each clamped to 1, no loop); left: 1/out-degree of the
/// source; right: 1/in-degree of the destination; none: weights as given.
enum class GcnNorm { pyg, both, left, right, none };
enum class Activation { none, relu, elu, leaky_relu };

/// The numbers that a GCN layer multiplies with, made once per (graph, norm, loops, weights): loops are folded in, no
/// edge is added. Values are T = f32, or f64 for f64 features. y_i = act(sum_k edge[k] x[col[k]] + self[i] x_i + bias).
struct GcnCoefficients {
  DType dtype = DType::f32;
  Array<double> edge64, self64;  ///< used when dtype is f64
  Array<float> edge32, self32;   ///< used when dtype is f32; self is empty when no loops were added
};
/// loop_weight: weight of the loop added to each node *without* one (add_remaining_self_loops, as PyG: existing loops
/// keep their weight); 0 adds none. w: [edges] in CSR order or none. Square graphs only when loop_weight != 0.
Result<std::shared_ptr<const GcnCoefficients>> gcn_coefficients(const Plan& plan, GcnNorm norm, double loop_weight,
                                                                EdgeValues w, DType dtype);

/// The whole layer in one pass over the graph. bias: [F] of accumulator type or null. negative_slope: for leaky_relu.
Status gcn(const Plan& plan, Direction d, const GcnCoefficients& c, ConstMatrix x, const void* bias, Activation act,
           double negative_slope, Matrix y);

}  // namespace pantile::sparse
