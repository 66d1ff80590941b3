#pragma once

#include <pantile/graph/graph.h>
#include <pantile/sparse/attention.h>
#include <pantile/sparse/plan.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "support/features.h"

/// Attention by straight loops in double, and what its tests share.
namespace pantile::test {

/// A dense double matrix [rows, cols].
struct Table {
  int64_t rows = 0, cols = 0;
  std::vector<double> at;
  Table() = default;
  Table(int64_t r, int64_t c, double v = 0) : rows(r), cols(c), at(static_cast<size_t>(r * c), v) {}
  explicit Table(const Features& f) : Table(f.rows(), f.cols()) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j) (*this)(i, j) = f(i, j);
  }
  double& operator()(int64_t i, int64_t j) { return at[static_cast<size_t>(i * cols + j)]; }
  double operator()(int64_t i, int64_t j) const { return at[static_cast<size_t>(i * cols + j)]; }
};

/// logit(edge, row, column, head) and value(edge, column, feature) define an attention.
struct AttentionDefinition {
  std::function<double(int64_t, int64_t, int64_t, int64_t)> logit;
  std::function<double(int64_t, int64_t, int64_t)> value;
  int64_t heads = 1, features = 1;
};
struct AttentionResult {
  Table y, lse;
};

/// factors: dropout factors [E, H], or empty.
inline AttentionResult attention_oracle(const Graph& g, const AttentionDefinition& def, const Table& factors) {
  AttentionResult out{Table(g.rows(), def.features), Table(g.rows(), def.heads)};
  const int64_t dim = def.features / def.heads;
  for (int64_t i = 0; i < g.rows(); ++i)
    for (int64_t h = 0; h < def.heads; ++h) {
      const int64_t begin = g.ptr()[static_cast<size_t>(i)], end = g.ptr()[static_cast<size_t>(i + 1)];
      std::vector<double> z;
      double m = -std::numeric_limits<double>::infinity(), s = 0;
      for (int64_t k = begin; k < end; ++k) {
        z.push_back(def.logit(k, i, g.col()[static_cast<size_t>(k)], h));
        m = std::max(m, z.back());
      }
      if (m == -std::numeric_limits<double>::infinity()) continue;
      for (double& v : z) s += v = std::exp(v - m);
      for (int64_t k = begin; k < end; ++k) {
        const double keep = factors.rows == 0 ? 1 : factors(k, h);
        const double p = z[static_cast<size_t>(k - begin)] / s * keep;
        for (int64_t d = 0; d < dim; ++d)
          out.y(i, h * dim + d) += p * def.value(k, g.col()[static_cast<size_t>(k)], h * dim + d);
      }
      out.lse(i, h) = m + std::log(s);
    }
  return out;
}

inline double leaky(double z, double slope) { return z > 0 ? z : z * slope; }

/// Largest |a - b| / (1 + largest |b|): one number that a tolerance can bound.
template <class A, class B>
double distance(const A& a, const B& b, int64_t rows, int64_t cols) {
  double worst = 0, scale = 1;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) {
      const double error = std::abs(a(i, j) - b(i, j));
      if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      scale = std::max(scale, std::abs(b(i, j)));
    }
  return worst / scale;
}

/// Differences of a gradient: d <loss> / d table(i, j) for every element, by central differences of `loss`.
inline Table finite_difference(Table& table, const std::function<double()>& loss, double step = 1e-5) {
  Table gradient(table.rows, table.cols);
  for (size_t i = 0; i < table.at.size(); ++i) {
    const double kept = table.at[i];
    table.at[i] = kept + step;
    const double up = loss();
    table.at[i] = kept - step;
    const double down = loss();
    table.at[i] = kept;
    gradient.at[i] = (up - down) / (2 * step);
  }
  return gradient;
}
inline double inner(const Table& a, const Table& b) {
  double sum = 0;
  for (size_t i = 0; i < a.at.size(); ++i) sum += a.at[i] * b.at[i];
  return sum;
}

/// What results of the accumulator's precision may differ by, and of the storage type's.
inline double attention_tolerance(DType t) {
  switch (t) {
    case DType::f64:
      return 1e-11;
    case DType::f32:
      return 2e-5;
    case DType::bf16:
      return 1.6e-2;
    default:
      return 2e-3;
  }
}

/// The dropout factors of a graph as the oracle takes them; empty without dropout.
inline Table factors_of(const sparse::Plan& plan, int64_t heads, const sparse::AttentionDropout& dropout) {
  if (dropout.probability == 0) return {};
  Table factors(plan.graph().edges(), heads);
  const Status made =
      sparse::attention_dropout_factors(plan, heads, dropout, matrix_of(factors.at.data(), factors.rows, heads));
  return made ? factors : Table();
}

}  // namespace pantile::test
