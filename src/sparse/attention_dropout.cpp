#include <pantile/core/random.h>

#include <pantile/core/thread_pool.h>
#include <pantile/sparse/attention.h>

#include "sparse/attention_setup.h"

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

Status attention_dropout_factors(const Plan& plan, int64_t heads, const AttentionDropout& dropout, Matrix factors) {
  constexpr std::string_view kOp = "attention_dropout_factors";
  const int64_t edges = plan.graph().edges();
  const DType dtype = factors.dtype == DType::f64 ? DType::f64 : DType::f32;
  PANTILE_TRY(const Heads shape, check_heads(kOp, heads, heads));
  PANTILE_CHECK(check_matrix(factors, {kOp, "factors", edges, heads, dtype}, "edges, heads"));
  PANTILE_TRY(const EdgeWalk walk, make_walk(kOp, plan, Direction::by_row, dtype, shape, dropout));
  const auto fill = [&](auto a) {
    using A = decltype(a);
    parallel_for(edges, kChunk, [&](int64_t begin, int64_t end) {
      const int n = static_cast<int>(end - begin);
      int64_t ids[kChunk];
      for (int k = 0; k < n; ++k) ids[k] = walk.edge_id == nullptr ? begin + k : walk.edge_id[begin + k];
      std::vector<A> chunk(static_cast<size_t>(shape.chunk_values()));
      dropout_factors(walk.seed, walk.threshold, static_cast<A>(walk.scale), ids, n, shape, chunk.data());
      for (int k = 0; k < n; ++k)
        std::copy_n(chunk.data() + k * shape.padded, heads, factors.as<A>() + (begin + k) * factors.row_stride);
    });
  };
  if (dtype == DType::f64)
    fill(double());
  else
    fill(float());
  return {};
}

}  // namespace pantile::sparse
