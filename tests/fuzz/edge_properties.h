#pragma once

#include <pantile/io/edge_list.h>

#include <cmath>

#include "fuzz/fuzz_reader.h"

namespace pantile::fuzz {

/// What every EdgeList promises.
inline void require_valid(const Result<EdgeList>& edges) {
  if (!edges) return;
  require(edges->src.size() == edges->dst.size());
  require(edges->weights.empty() || edges->weights.size() == edges->src.size());
  for (int64_t k = 0; k < edges->edges(); ++k) {
    require(edges->src[k] >= 0 && (edges->num_src < 0 || edges->src[k] < edges->num_src));
    require(edges->dst[k] >= 0 && (edges->num_dst < 0 || edges->dst[k] < edges->num_dst));
    require(edges->weights.empty() || std::isfinite(edges->weights[k]));
  }
}

}  // namespace pantile::fuzz
