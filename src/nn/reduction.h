#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/nn/dense_matrix.h>

/// Sums over nodes that do not depend on the number of threads: partials over fixed chunks of rows, folded in chunk
/// order.
namespace pantile::nn {

/// Rows per chunk for n rows: at most 16 chunks of at least 256 rows, so that partials stay small.
int64_t partial_grain(int64_t n);

/// out[j] = sum over the rows of partials, first to last.
template <class T>
void fold_partials(const DenseMatrix<T>& partials, T* out);

/// out[j] = sum_i x[i, j].  x: [n, out size].
template <class T>
Status column_sums(ConstMatrix x, DenseMatrix<T>& partials, T* out);

}  // namespace pantile::nn
