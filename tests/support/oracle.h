#pragma once

#include <pantile/graph/graph.h>
#include <pantile/sparse/spmm.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "support/features.h"

namespace pantile::test {

/// Straight loops in double: the definition of each operator, and beside each value the sum of the magnitudes it was
/// made of, which is what rounding errors are measured against.
struct Expected {
  int64_t rows = 0, cols = 0;
  std::vector<double> value, magnitude;
  std::vector<int64_t> terms, arg;
  Expected(int64_t r, int64_t c)
      : rows(r),
        cols(c),
        value(size_t(r * c), 0.0),
        magnitude(size_t(r * c), 0.0),
        terms(size_t(r * c), 0),
        arg(size_t(r * c), -1) {}
  void add(int64_t i, int64_t f, double v) {
    value[size_t(i * cols + f)] += v;
    magnitude[size_t(i * cols + f)] += std::abs(v);
    ++terms[size_t(i * cols + f)];
  }
  double operator()(int64_t i, int64_t f) const { return value[size_t(i * cols + f)]; }

  /// Allowed error of an accumulated value: 2^-24 (6 + 3 sqrt(terms)) times the magnitudes (2^-53 for f64), plus one
  /// rounding to the storage type.
  double bound(int64_t i, int64_t f, DType t) const {
    const size_t at = size_t(i * cols + f);
    const double tiny = t == DType::f16 ? 0x1p-24 : 0;  // subnormal halves round absolutely
    return accumulator_epsilon(t) * (6 + 3 * std::sqrt(double(terms[at]))) * magnitude[at] +
           storage_epsilon(t) * std::abs(value[at]) * 1.01 + tiny;
  }
};

inline double weight_of(const Values* w, int64_t k, int64_t f, int64_t width) {
  return w == nullptr ? 1.0 : (*w)(k, f / (width / w->heads()));
}

/// y of spmm; by_column swaps the ends of every edge. arg is the CSR position of the winner of min and max.
inline Expected spmm_oracle(const Graph& g, sparse::Direction d, sparse::Reduce reduce, const Features& x,
                            const Values* w) {
  using sparse::Reduce;
  const bool down = d == sparse::Direction::by_row;
  Expected y(down ? g.rows() : g.cols(), x.cols());
  const auto ptr = g.ptr();
  const auto col = g.col();
  std::vector<int64_t> degree(size_t(y.rows), 0);
  for (int64_t row = 0; row < g.rows(); ++row)
    for (int64_t k = ptr[size_t(row)]; k < ptr[size_t(row + 1)]; ++k) {
      const int64_t i = down ? row : col[size_t(k)], j = down ? col[size_t(k)] : row;
      ++degree[size_t(i)];
      for (int64_t f = 0; f < x.cols(); ++f) {
        const double v = weight_of(w, k, f, x.cols()) * x(j, f);
        if (reduce == Reduce::sum || reduce == Reduce::mean) {
          y.add(i, f, v);
          continue;
        }
        const size_t at = size_t(i * y.cols + f);
        const bool better = reduce == Reduce::max ? v > y.value[at] : v < y.value[at];
        if (y.arg[at] != -1 && !better && !(std::isnan(v) && !std::isnan(y.value[at]))) continue;
        y.value[at] = v;
        y.magnitude[at] = std::abs(v);
        y.terms[at] = 1;
        y.arg[at] = k;
      }
    }
  if (reduce == Reduce::mean)
    for (int64_t i = 0; i < y.rows; ++i)
      for (int64_t f = 0; f < y.cols; ++f) {
        y.value[size_t(i * y.cols + f)] /= double(std::max<int64_t>(degree[size_t(i)], 1));
        y.magnitude[size_t(i * y.cols + f)] /= double(std::max<int64_t>(degree[size_t(i)], 1));
      }
  return y;
}

/// dx of spmm by row. arg: as the forward oracle or kernel found it, for min and max.
inline Expected spmm_grad_x_oracle(const Graph& g, sparse::Reduce reduce, const Features& dy, const Values* w,
                                   const int64_t* arg) {
  using sparse::Reduce;
  Expected dx(g.cols(), dy.cols());
  const auto ptr = g.ptr();
  for (int64_t i = 0; i < g.rows(); ++i)
    for (int64_t k = ptr[size_t(i)]; k < ptr[size_t(i + 1)]; ++k)
      for (int64_t f = 0; f < dy.cols(); ++f) {
        double v = weight_of(w, k, f, dy.cols()) * dy(i, f);
        if (reduce == Reduce::mean) v /= double(ptr[size_t(i + 1)] - ptr[size_t(i)]);
        const bool takes = reduce == Reduce::sum || reduce == Reduce::mean || arg[i * dy.cols() + f] == k;
        if (takes) dx.add(g.col()[size_t(k)], f, v);
      }
  return dx;
}

/// dw [edges, heads] of spmm by row.
inline Expected spmm_grad_w_oracle(const Graph& g, sparse::Reduce reduce, const Features& x, const Features& dy,
                                   int64_t heads, const int64_t* arg) {
  using sparse::Reduce;
  Expected dw(g.edges(), heads);
  const auto ptr = g.ptr();
  for (int64_t i = 0; i < g.rows(); ++i)
    for (int64_t k = ptr[size_t(i)]; k < ptr[size_t(i + 1)]; ++k)
      for (int64_t f = 0; f < x.cols(); ++f) {
        double v = dy(i, f) * x(g.col()[size_t(k)], f);
        if (reduce == Reduce::mean) v /= double(ptr[size_t(i + 1)] - ptr[size_t(i)]);
        const bool takes = reduce == Reduce::sum || reduce == Reduce::mean || arg[i * x.cols() + f] == k;
        if (takes) dw.add(k, f / (x.cols() / heads), v);
      }
  return dw;
}

/// The first position where `got` leaves the bound, as text, or "" when there is none. NaN must meet NaN, infinity
/// infinity.
inline std::string first_difference(const Expected& want, const Features& got) {
  for (int64_t i = 0; i < want.rows; ++i)
    for (int64_t f = 0; f < want.cols; ++f) {
      const double w = want(i, f), v = got(i, f);
      if (std::isnan(w) ? std::isnan(v) : std::isinf(w) ? v == w : std::abs(v - w) <= want.bound(i, f, got.dtype()))
        continue;
      return "row " + std::to_string(i) + ", feature " + std::to_string(f) + ": expected " + std::to_string(w) +
             ", got " + std::to_string(v) + ", bound " + std::to_string(want.bound(i, f, got.dtype()));
    }
  return "";
}

}  // namespace pantile::test
