#include "nn/linear_map.h"

#include <pantile/core/thread_pool.h>
#include <pantile/sparse/spmm.h>

#include <fmt/format.h>
#include <algorithm>

#include "nn/gemm.h"
#include "nn/reduction.h"

namespace pantile::nn {
namespace {

template <class T>
Status transpose(const DenseMatrix<T>& in, DenseMatrix<T>& out) {
  PANTILE_CHECK(out.resize(in.cols(), in.rows()));
  constexpr int64_t kTile = 64;
  parallel_for(in.cols(), kTile, [&](int64_t begin, int64_t end) {
    for (int64_t r0 = 0; r0 < in.rows(); r0 += kTile) {
      const int64_t r1 = std::min(r0 + kTile, in.rows());
      for (int64_t c = begin; c < end; ++c) {
        for (int64_t r = r0; r < r1; ++r) out(c, r) = in(r, c);
      }
    }
  });
  return {};
}

template <class T>
sparse::EdgeValues values_of(const Features<T>& x) {
  return {x.values, dtype_of<T>, 1};
}

}  // namespace

template <class T>
Result<LinearMap<T>> LinearMap<T>::make(const Shape& shape, Random& random) {
  if (shape.in < 0 || shape.out < 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: widths {} -> {} must not be negative", shape.name, shape.in, shape.out));
  }
  LinearMap map;
  PANTILE_TRY(map.weight_,
              make_parameter<T>(shape.name + ".weight", {shape.out, shape.in}, shape.init, shape.in, random));
  if (shape.bias) {
    PANTILE_TRY(map.bias_, make_parameter<T>(shape.name + ".bias", {shape.out}, Init::fan_in, shape.in, random));
  }
  map.has_bias_ = shape.bias;
  return map;
}

template <class T>
Status LinearMap<T>::apply_sparse(const Features<T>& x, bool accumulate, DenseMatrix<T>& y) {
  PANTILE_CHECK(transpose(weight_.value, transposed_));
  DenseMatrix<T>& product = accumulate ? product_ : y;
  PANTILE_CHECK(product.resize(x.rows, out()));
  PANTILE_CHECK(sparse::spmm(*x.pattern, sparse::Direction::by_row, sparse::Reduce::sum,
                             std::as_const(transposed_).view(), values_of(x), product.view()));
  if (accumulate) {
    parallel_for(y.size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) y.data()[k] += product.data()[k];
    });
  }
  return {};
}

template <class T>
Status LinearMap<T>::apply(const Features<T>& x, bool accumulate, DenseMatrix<T>& y) {
  if (x.is_sparse()) {
    PANTILE_CHECK(apply_sparse(x, accumulate, y));
  } else {
    if (!accumulate) PANTILE_CHECK(y.resize(x.rows, out()));
    multiply_by_transpose<T>(x.dense, weight_.value.view(), accumulate, y.view());
  }
  if (has_bias_) add_to_rows(bias_.value.data(), y);
  return {};
}

template <class T>
Status LinearMap<T>::parameter_gradients(const Features<T>& x, ConstMatrix dy) {
  if (has_bias_) PANTILE_CHECK(column_sums(dy, partials_, bias_.gradient.data()));
  if (!x.is_sparse()) return multiply_transposed(dy, x.dense, partials_, weight_.gradient.view());
  PANTILE_CHECK(transposed_.resize(in(), out()));
  PANTILE_CHECK(sparse::spmm(*x.pattern, sparse::Direction::by_column, sparse::Reduce::sum, dy, values_of(x),
                             transposed_.view()));
  return transpose(transposed_, weight_.gradient);
}

template <class T>
Status LinearMap<T>::input_gradient(ConstMatrix dy, bool accumulate, DenseMatrix<T>& dx) {
  if (!accumulate) PANTILE_CHECK(dx.resize(dy.rows, in()));
  multiply<T>(dy, weight_.value.view(), accumulate, dx.view());
  return {};
}

template <class T>
void LinearMap<T>::collect(std::vector<Parameter<T>*>& all) {
  all.push_back(&weight_);
  if (has_bias_) all.push_back(&bias_);
}

template <class T>
void add_to_rows(const T* b, DenseMatrix<T>& y) {
  parallel_for(y.rows(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = y.row(i);
      for (int64_t j = 0; j < y.cols(); ++j) row[j] += b[j];
    }
  });
}

template <class T>
Status check_input(const Features<T>& x, int64_t rows, int64_t width, const std::string& layer) {
  if (x.width == width && (rows < 0 || x.rows == rows)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: features are [{}, {}], the layer was made for [{}, {}]", layer, x.rows, x.width,
                          rows < 0 ? std::string("any") : fmt::format("{}", rows), width));
}

#define PANTILE_INSTANTIATE(T)                          \
  template class LinearMap<T>;                          \
  template void add_to_rows(const T*, DenseMatrix<T>&); \
  template Status check_input(const Features<T>&, int64_t, int64_t, const std::string&);
PANTILE_INSTANTIATE(float)
PANTILE_INSTANTIATE(double)
#undef PANTILE_INSTANTIATE

}  // namespace pantile::nn
