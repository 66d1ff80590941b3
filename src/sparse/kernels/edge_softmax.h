#pragma once

#include <span>

#include "sparse/kernels/attention.h"

namespace pantile::sparse {

/// Softmax over the edges of each row of `walk.csr`, and its gradient. Values are [E, heads] of `walk.dtype` in the
/// graph's CSR order. A hub row takes two calls: its segments leave partial results, and once these are joined they are
/// finished.
struct EdgeSoftmax {
  EdgeWalk walk;
  Values z;   ///< softmax: logits; gradient: p
  Values dp;  ///< gradient only
  MutableValues out;
  Partials part;  ///< acc: m and s (softmax), sum of p dp (gradient), padded heads each
};
void edge_softmax_units(const EdgeSoftmax& args);
void edge_softmax_grad_units(const EdgeSoftmax& args);
/// Joins the segments of a hub in their order and leaves the result in each of its slots.
void edge_softmax_join(const EdgeSoftmax& args, const Hub& hub);
void edge_softmax_grad_join(const EdgeSoftmax& args, const Hub& hub);
/// Writes the edges of one segment from the joined slot.
void edge_softmax_finish(const EdgeSoftmax& args, const Unit& segment);
void edge_softmax_grad_finish(const EdgeSoftmax& args, const Unit& segment);

}  // namespace pantile::sparse
