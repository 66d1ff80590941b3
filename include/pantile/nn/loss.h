#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <cstdint>
#include <span>

namespace pantile::nn {

/// Sums over the nodes of one mask.
struct NodeScore {
  double loss = 0;      ///< mean cross-entropy, natural logarithm; 0 when the mask is empty
  double accuracy = 0;  ///< share of nodes whose largest logit (the first of equals) is the label's; 0 when empty
  int64_t nodes = 0;
};

/// Scores of log-softmax + cross-entropy on the nodes `mask` lists.
/// logits: [N, C] f32 or f64. labels: [N], 0 <= label < C on every listed node. mask: ascending node ids.
/// Sums are kept in double over fixed chunks: bitwise equal for any thread count.
/// Errors: out_of_range names the node and its label.
Result<NodeScore> score(ConstMatrix logits, std::span<const int64_t> labels, std::span<const int64_t> mask);

/// The same, and gradient = (softmax - one-hot) / |mask| on listed nodes, 0 elsewhere. gradient: shape and dtype of
/// logits.
Result<NodeScore> cross_entropy(ConstMatrix logits, std::span<const int64_t> labels, std::span<const int64_t> mask,
                                Matrix gradient);

}  // namespace pantile::nn
