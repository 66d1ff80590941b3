#include "nn/heads.h"

#include <pantile/core/thread_pool.h>

#include <fmt/format.h>
#include <algorithm>

#include "nn/reduction.h"

namespace pantile::nn {

template <class T>
void head_dots(const DenseMatrix<T>& x, const DenseMatrix<T>& a, DenseMatrix<T>& out) {
  const int64_t heads = a.rows(), width = a.cols();
  parallel_for(x.rows(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t h = 0; h < heads; ++h) {
        const T *in = x.row(i) + h * width, *weight = a.row(h);
        T sum{0};
        for (int64_t d = 0; d < width; ++d) sum += in[d] * weight[d];
        out(i, h) = sum;
      }
    }
  });
}

template <class T>
Status head_dots_gradient(const DenseMatrix<T>& x, const DenseMatrix<T>& a, const DenseMatrix<T>& dout,
                          DenseMatrix<T>& partials, DenseMatrix<T>& dx, DenseMatrix<T>& da) {
  const int64_t heads = a.rows(), width = a.cols(), grain = partial_grain(x.rows());
  PANTILE_CHECK(partials.resize((x.rows() + grain - 1) / grain, a.size()));
  parallel_for(x.rows(), grain, [&](int64_t begin, int64_t end) {
    T* sums = partials.row(begin / grain);
    std::fill_n(sums, a.size(), T{0});
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t h = 0; h < heads; ++h) {
        const T g = dout(i, h);
        const T *in = x.row(i) + h * width, *weight = a.row(h);
        T *out = dx.row(i) + h * width, *sum = sums + h * width;
        for (int64_t d = 0; d < width; ++d) {
          out[d] += g * weight[d];
          sum[d] += g * in[d];
        }
      }
    }
  });
  fold_partials(partials, da.data());
  return {};
}

template <class T>
Status join_heads(const DenseMatrix<T>& x, int64_t heads, bool concat, DenseMatrix<T>& y) {
  const int64_t width = x.cols() / heads;
  PANTILE_CHECK(y.resize(x.rows(), concat ? x.cols() : width));
  const T share = T{1} / static_cast<T>(heads);
  parallel_for(x.rows(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (concat) {
        std::copy_n(x.row(i), x.cols(), y.row(i));
        continue;
      }
      for (int64_t d = 0; d < width; ++d) {
        T sum{0};
        for (int64_t h = 0; h < heads; ++h) sum += x(i, h * width + d);
        y(i, d) = sum * share;
      }
    }
  });
  return {};
}

template <class T>
Result<ConstMatrix> split_heads(ConstMatrix dy, int64_t heads, bool concat, DenseMatrix<T>& storage) {
  if (concat) return dy;
  PANTILE_CHECK(storage.resize(dy.rows, dy.cols * heads));
  const T share = T{1} / static_cast<T>(heads);
  parallel_for(dy.rows, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* in = dy.as<T>() + i * dy.row_stride;
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t d = 0; d < dy.cols; ++d) storage(i, h * dy.cols + d) = in[d] * share;
      }
    }
  });
  return std::as_const(storage).view();
}

Status check_attention(const AttentionOptions& o) {
  if (o.heads < 1 || o.in < 0 || o.out < 0) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{}: {} heads, widths {} -> {}; at least one head and widths >= 0", o.name, o.heads, o.in, o.out));
  }
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: attention dropout {} is outside [0, 1)", o.name, o.dropout));
  }
  PANTILE_CHECK(checked_multiply(o.heads, o.out));
  return {};
}

std::string describe_attention(const char* layer, const AttentionOptions& o) {
  return fmt::format("{}({} -> {} x {}{})", layer, o.in, o.heads, o.out, o.concat || o.heads == 1 ? "" : ", mean");
}

#define PANTILE_INSTANTIATE(T)                                                                            \
  template void head_dots(const DenseMatrix<T>&, const DenseMatrix<T>&, DenseMatrix<T>&);                 \
  template Status head_dots_gradient(const DenseMatrix<T>&, const DenseMatrix<T>&, const DenseMatrix<T>&, \
                                     DenseMatrix<T>&, DenseMatrix<T>&, DenseMatrix<T>&);                  \
  template Status join_heads(const DenseMatrix<T>&, int64_t, bool, DenseMatrix<T>&);                      \
  template Result<ConstMatrix> split_heads(ConstMatrix, int64_t, bool, DenseMatrix<T>&);
PANTILE_INSTANTIATE(float)
PANTILE_INSTANTIATE(double)
#undef PANTILE_INSTANTIATE

}  // namespace pantile::nn
