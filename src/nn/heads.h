#pragma once

#include <pantile/core/matrix.h>
#include <pantile/nn/dense_matrix.h>
#include <pantile/nn/layers.h>

/// What the attention layers share: head-wise dot products and the join of heads into the layer's output.
/// H heads of D features: a [n, H * D] matrix holds head h in columns [h * D, (h + 1) * D).
namespace pantile::nn {

/// out[i, h] = <x[i, h, :], a[h, :]>.  x: [n, H * D]; a: [H, D]; out: [n, H].
template <class T>
void head_dots(const DenseMatrix<T>& x, const DenseMatrix<T>& a, DenseMatrix<T>& out);

/// Of head_dots: dx[i, h, :] += dout[i, h] a[h, :], and da[h, :] = sum_i dout[i, h] x[i, h, :].
template <class T>
Status head_dots_gradient(const DenseMatrix<T>& x, const DenseMatrix<T>& a, const DenseMatrix<T>& dout,
                          DenseMatrix<T>& partials, DenseMatrix<T>& dx, DenseMatrix<T>& da);

/// y = the heads side by side (concat) or their mean.  x: [n, H * D]; y: [n, H * D] or [n, D].
template <class T>
Status join_heads(const DenseMatrix<T>& x, int64_t heads, bool concat, DenseMatrix<T>& y);

/// Of join_heads: dx, which is dy itself for concat (then `storage` stays unused).
template <class T>
Result<ConstMatrix> split_heads(ConstMatrix dy, int64_t heads, bool concat, DenseMatrix<T>& storage);

/// invalid_argument unless heads >= 1, widths >= 0 and dropout in [0, 1); out_of_memory when heads * out overflows.
Status check_attention(const AttentionOptions& options);

/// "GATConv(1433 -> 8 x 8)".
std::string describe_attention(const char* layer, const AttentionOptions& options);

}  // namespace pantile::nn
