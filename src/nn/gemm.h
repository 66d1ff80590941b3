#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/nn/dense_matrix.h>

/// Dense products over OpenBLAS. Each BLAS call runs in one thread of our pool on a chunk of rows that depends on the
/// shape alone, and partial sums fold in chunk order: results are bitwise equal for any thread count.
namespace pantile::nn {

/// y = x w^T (+ y when `accumulate`).  x: [n, k]; w: [m, k]; y: [n, m].
template <class T>
void multiply_by_transpose(ConstMatrix x, ConstMatrix w, bool accumulate, Matrix y);

/// y = x w (+ y when `accumulate`).  x: [n, k]; w: [k, m]; y: [n, m].
template <class T>
void multiply(ConstMatrix x, ConstMatrix w, bool accumulate, Matrix y);

/// y = a^T b, summed over the n shared rows.  a: [n, m]; b: [n, k]; y: [m, k] without gaps. Errors: out_of_memory
/// (partial sums).
template <class T>
Status multiply_transposed(ConstMatrix a, ConstMatrix b, DenseMatrix<T>& partials, Matrix y);

}  // namespace pantile::nn
