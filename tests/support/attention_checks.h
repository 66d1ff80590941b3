#pragma once

#include <gtest/gtest.h>
#include <pantile/core/random.h>
#include <pantile/core/thread_pool.h>

#include <string>
#include <vector>

#include "support/attention_oracle.h"
#include "support/graphs.h"

/// The properties every fused attention has, checked the same way for each.
namespace pantile::test {

/// An attention as its tests see it: matrices in, gradients of the same shapes out.
struct Attention {
  struct Input {
    std::string name;
    int64_t rows, cols;
    bool logits;  ///< always of the accumulator type
  };
  bool square_only = false;
  std::function<std::vector<Input>(const Graph&, int64_t heads, int64_t dim)> inputs;
  std::function<AttentionDefinition(const Graph&, const std::vector<Table>&, int64_t heads, int64_t dim)> define;
  std::function<Status(const sparse::Plan&, std::vector<Features>& in, int64_t heads, const sparse::AttentionDropout&,
                       Matrix y, Matrix lse)>
      forward;
  std::function<Status(const sparse::Plan&, std::vector<Features>& in, int64_t heads, const sparse::AttentionDropout&,
                       ConstMatrix y, ConstMatrix lse, ConstMatrix dy, std::vector<Features>& gradients)>
      backward;
};

inline std::vector<Features> random_inputs(const Attention& a, const Graph& g, int64_t heads, int64_t dim, DType dtype,
                                           int64_t gap, uint64_t seed = 1) {
  std::vector<Features> in;
  for (const auto& input : a.inputs(g, heads, dim))
    in.push_back(Features::random(input.logits ? accumulator_of(dtype) : dtype, input.rows, input.cols, seed++, gap));
  return in;
}
inline std::vector<Table> tables_of(const std::vector<Features>& in) {
  std::vector<Table> tables;
  for (const Features& f : in) tables.emplace_back(f);
  return tables;
}

struct AttentionRun {
  Features y, lse, dy;
  std::vector<Features> gradients;
};
inline AttentionRun run_attention(const Attention& a, const Graph& g, std::vector<Features>& in, int64_t heads,
                                  int64_t dim, DType dtype, int64_t gap, const sparse::AttentionDropout& dropout) {
  const sparse::Plan plan = sparse::Plan::of(g);
  AttentionRun run{Features(dtype, g.rows(), heads * dim, gap),
                   Features(accumulator_of(dtype), g.rows(), heads, gap),
                   Features::random(dtype, g.rows(), heads * dim, 77, gap),
                   {}};
  const Status forward = a.forward(plan, in, heads, dropout, run.y.matrix(), run.lse.matrix());
  EXPECT_TRUE(forward) << (forward ? "" : forward.error().message);
  for (const Features& f : in) run.gradients.emplace_back(f.dtype(), f.rows(), f.cols(), gap);
  const Status backward =
      a.backward(plan, in, heads, dropout, run.y.matrix(), run.lse.matrix(), run.dy.matrix(), run.gradients);
  EXPECT_TRUE(backward) << (backward ? "" : backward.error().message);
  return run;
}

/// y and lse against the oracle, gradients against the f64 run on the same (rounded) inputs; nothing outside the
/// matrices is touched.
inline void expect_matches_oracle(const Attention& a, const Graph& g, int64_t heads, int64_t dim, DType dtype,
                                  int64_t gap, const sparse::AttentionDropout& dropout = {}) {
  std::vector<Features> in = random_inputs(a, g, heads, dim, dtype, gap);
  const AttentionRun run = run_attention(a, g, in, heads, dim, dtype, gap, dropout);
  const AttentionResult expected =
      attention_oracle(g, a.define(g, tables_of(in), heads, dim), factors_of(sparse::Plan::of(g), heads, dropout));
  const double tolerance = attention_tolerance(dtype);
  EXPECT_LE(distance(run.y, expected.y, g.rows(), heads * dim), tolerance);
  EXPECT_LE(distance(run.lse, expected.lse, g.rows(), heads), attention_tolerance(accumulator_of(dtype)));
  EXPECT_TRUE(run.y.untouched_outside());
  EXPECT_TRUE(run.lse.untouched_outside());

  std::vector<Features> wide;
  for (const Features& f : in) {
    wide.emplace_back(DType::f64, f.rows(), f.cols());
    for (int64_t i = 0; i < f.rows(); ++i)
      for (int64_t j = 0; j < f.cols(); ++j) wide.back().set(i, j, f(i, j));
  }
  const sparse::Plan plan = sparse::Plan::of(g);
  Features y(DType::f64, g.rows(), heads * dim), lse(DType::f64, g.rows(), heads),
      dy(DType::f64, g.rows(), heads * dim);
  for (int64_t i = 0; i < g.rows(); ++i)
    for (int64_t f = 0; f < heads * dim; ++f) dy.set(i, f, run.dy(i, f));
  ASSERT_TRUE(a.forward(plan, wide, heads, dropout, y.matrix(), lse.matrix()));
  std::vector<Features> gradients;
  for (const Features& f : in) gradients.emplace_back(DType::f64, f.rows(), f.cols());
  ASSERT_TRUE(a.backward(plan, wide, heads, dropout, y.matrix(), lse.matrix(), dy.matrix(), gradients));
  const auto names = a.inputs(g, heads, dim);
  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_LE(distance(run.gradients[i], gradients[i], in[i].rows(), in[i].cols()), 3 * tolerance)
        << "gradient of " << names[i].name;
    EXPECT_TRUE(run.gradients[i].untouched_outside()) << names[i].name;
  }
}

/// Every gradient against central differences of the oracle.
inline void expect_gradients_match_differences(const Attention& a, const Graph& g, int64_t heads, int64_t dim,
                                               const sparse::AttentionDropout& dropout = {}) {
  std::vector<Features> in = random_inputs(a, g, heads, dim, DType::f64, 0, 5);
  const AttentionRun run = run_attention(a, g, in, heads, dim, DType::f64, 0, dropout);
  std::vector<Table> tables = tables_of(in);
  const Table factors = factors_of(sparse::Plan::of(g), heads, dropout), dy(run.dy);
  const auto names = a.inputs(g, heads, dim);
  for (size_t i = 0; i < tables.size(); ++i) {
    const Table expected = finite_difference(
        tables[i], [&] { return inner(attention_oracle(g, a.define(g, tables, heads, dim), factors).y, dy); });
    EXPECT_LE(distance(run.gradients[i], expected, expected.rows, expected.cols), 2e-8)
        << "gradient of " << names[i].name;
  }
}

inline std::vector<std::vector<unsigned char>> bytes_of(const AttentionRun& run) {
  std::vector<std::vector<unsigned char>> bytes = {run.y.bytes(), run.lse.bytes()};
  for (const Features& f : run.gradients) bytes.push_back(f.bytes());
  return bytes;
}
inline void expect_same_bits_for_any_thread_count(const Attention& a, const Graph& g, int64_t heads, int64_t dim,
                                                  DType dtype, const sparse::AttentionDropout& dropout) {
  std::vector<Features> in = random_inputs(a, g, heads, dim, dtype, 0);
  std::vector<std::vector<unsigned char>> first;
  for (const int threads : {1, 2, 4, 8}) {
    set_num_threads(threads);
    const auto bytes = bytes_of(run_attention(a, g, in, heads, dim, dtype, 0, dropout));
    if (first.empty()) first = bytes;
    EXPECT_TRUE(bytes == first) << threads << " threads";
  }
  set_num_threads(0);
}

/// Small graphs for differences: duplicates, loops, an empty row, bipartite.
inline std::vector<Graph> small_graphs(bool square_only) {
  std::vector<Graph> graphs = {graph_of({0, 1, 1, 2, 2, 2, 4, 0, 3}, {0, 0, 0, 1, 1, 2, 2, 4, 4}, 5, 5)};
  if (!square_only) graphs.push_back(graph_of({0, 1, 5, 3, 3, 2}, {0, 0, 1, 1, 3, 3}, 4, 6));
  return graphs;
}

/// Declares the tests that every attention must pass; `MAKE()` gives the Attention.
#define PANTILE_ATTENTION_TESTS(SUITE, MAKE, HEADS)                                              \
  TEST(SUITE, MatchesTheOracleForAllHeadsAndSizes) {                                             \
    const Attention a = MAKE();                                                                  \
    const Graph g = random_graph(37, a.square_only ? 37 : 29, 400, 3);                           \
    for (const int64_t heads : HEADS)                                                            \
      for (const int64_t dim : {1, 5, 8, 16, 41, 64})                                            \
        for (const DType t : {DType::f64, DType::f32}) {                                         \
          SCOPED_TRACE(::testing::Message() << name(t) << " heads " << heads << " dim " << dim); \
          expect_matches_oracle(a, g, heads, dim, t, 0);                                         \
        }                                                                                        \
  }                                                                                              \
  TEST(SUITE, MatchesTheOracleInHalfPrecisionStorage) {                                          \
    const Attention a = MAKE();                                                                  \
    const Graph g = random_graph(23, 23, 150, 4);                                                \
    for (const int64_t heads : HEADS)                                                            \
      for (const int64_t dim : {3, 8, 40})                                                       \
        for (const DType t : {DType::bf16, DType::f16}) {                                        \
          SCOPED_TRACE(::testing::Message() << name(t) << " heads " << heads << " dim " << dim); \
          expect_matches_oracle(a, g, heads, dim, t, 1);                                         \
        }                                                                                        \
  }                                                                                              \
  TEST(SUITE, MatchesTheOracleOnEveryGraphAndStride) {                                           \
    const Attention a = MAKE();                                                                  \
    for (const NamedGraph& g : graph_zoo()) {                                                    \
      if (a.square_only && !g.graph.square()) continue;                                          \
      for (const int64_t heads : HEADS) {                                                        \
        SCOPED_TRACE(::testing::Message() << g.name << " heads " << heads);                      \
        expect_matches_oracle(a, g.graph, heads, 9, DType::f32, 3);                              \
        expect_matches_oracle(a, g.graph, heads, 4, DType::f64, 0);                              \
      }                                                                                          \
    }                                                                                            \
  }                                                                                              \
  TEST(SUITE, GradientsMatchFiniteDifferences) {                                                 \
    const Attention a = MAKE();                                                                  \
    for (const Graph& g : small_graphs(a.square_only))                                           \
      for (const int64_t heads : HEADS)                                                          \
        for (const int64_t dim : {1, 2, 5}) {                                                    \
          SCOPED_TRACE(::testing::Message() << "heads " << heads << " dim " << dim);             \
          expect_gradients_match_differences(a, g, heads, dim);                                  \
        }                                                                                        \
  }                                                                                              \
  TEST(SUITE, WidthZeroIsLegal) {                                                                \
    const Attention a = MAKE();                                                                  \
    expect_matches_oracle(a, random_graph(9, 9, 30, 8), 1, 0, DType::f32, 0);                    \
  }

}  // namespace pantile::test
