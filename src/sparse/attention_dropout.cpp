#include <pantile/core/random.h>

#include "sparse/kernels/attention.h"

namespace pantile::sparse {
namespace {

// One Philox block serves four heads of an edge: word h % 4 of the block (head / 4, edge).
template <class A>
void factors_of(uint64_t seed, uint64_t threshold, A scale, const int64_t* edge_ids, int n, Heads shape, A* factors) {
  for (int k = 0; k < n; ++k) {
    A* row = factors + k * shape.padded;
    for (int h = 0; h < shape.padded; h += 4) {
      const auto words = philox4x32(seed, static_cast<uint64_t>(h / 4), static_cast<uint64_t>(edge_ids[k]));
      for (int q = 0; q < 4 && h + q < shape.padded; ++q)
        row[h + q] = h + q < shape.heads && words[static_cast<size_t>(q)] >= threshold ? scale : A{0};
    }
  }
}

}  // namespace

void dropout_factors(uint64_t seed, uint64_t threshold, float scale, const int64_t* edge_ids, int n, Heads shape,
                     float* factors) {
  factors_of(seed, threshold, scale, edge_ids, n, shape, factors);
}
void dropout_factors(uint64_t seed, uint64_t threshold, double scale, const int64_t* edge_ids, int n, Heads shape,
                     double* factors) {
  factors_of(seed, threshold, scale, edge_ids, n, shape, factors);
}

}  // namespace pantile::sparse
