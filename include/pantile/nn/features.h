#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/nn/dense_matrix.h>
#include <pantile/sparse/plan.h>
#include <cstdint>
#include <optional>

namespace pantile::nn {

/// The borrowed input of a layer: one row per node, dense or compressed. Bag-of-words features are mostly zeros; as
/// compressed rows their product with a weight matrix is an SpMM that touches only the words that occur. Invariants:
/// (1) exactly one of `dense` and `pattern` holds the rows; (2) pattern rows = nodes, pattern cols = width, and values
/// has one entry per stored element in CSR order; (3) `constant` promises the same numbers in every pass, so that a
/// layer may keep what it computed from them.
template <class T>
struct Features {
  int64_t rows = 0, width = 0;
  ConstMatrix dense;                    ///< [rows, width], dtype of T, unless pattern is set
  std::optional<sparse::Plan> pattern;  ///< [rows, width] positions of the stored elements
  const T* values = nullptr;            ///< [pattern edges]
  bool constant = false;

  bool is_sparse() const { return pattern.has_value(); }
  static Features of(ConstMatrix x, bool constant = false) {
    return {x.rows, x.cols, x, std::nullopt, nullptr, constant};
  }
};

/// The same rows as a dense matrix. Errors: out_of_memory.
template <class T>
Status densify(const Features<T>& x, DenseMatrix<T>& out);

extern template Status densify(const Features<float>&, DenseMatrix<float>&);
extern template Status densify(const Features<double>&, DenseMatrix<double>&);

}  // namespace pantile::nn
