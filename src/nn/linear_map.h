#pragma once

#include <pantile/nn/init.h>
#include <pantile/nn/layer.h>
#include <string>
#include <vector>

namespace pantile::nn {

/// x W^T (+ b) and its derivatives, for dense and compressed x: the building block of every layer.
/// Invariants: weight is [out, in]; bias is [1, out] or absent.
template <class T>
class LinearMap {
 public:
  struct Shape {
    std::string name;  // parameters are name.weight and name.bias
    int64_t in = 0, out = 0;
    bool bias = true;
    Init init = Init::fan_in;  // of the weight; a bias starts by fan_in too, as in torch
  };
  static Result<LinearMap> make(const Shape& shape, Random& random);

  /// y = x W^T + b, or y += x W^T + b.  x: [n, in]; y: [n, out], resized unless accumulated to.
  Status apply(const Features<T>& x, bool accumulate, DenseMatrix<T>& y);
  /// Writes the gradients of weight and bias.
  Status parameter_gradients(const Features<T>& x, ConstMatrix dy);
  /// dx = dy W, or dx += dy W.
  Status input_gradient(ConstMatrix dy, bool accumulate, DenseMatrix<T>& dx);

  int64_t in() const { return weight_.value.cols(); }
  int64_t out() const { return weight_.value.rows(); }
  void collect(std::vector<Parameter<T>*>& all);

 private:
  Status apply_sparse(const Features<T>& x, bool accumulate, DenseMatrix<T>& y);

  Parameter<T> weight_, bias_;
  bool has_bias_ = false;
  DenseMatrix<T> transposed_;  // [in, out]: the weight, or its gradient, as SpMM wants it
  DenseMatrix<T> product_;     // [n, out]: an SpMM result on its way into an accumulated output
  DenseMatrix<T> partials_;
};

/// y[i, :] += b for every row.
template <class T>
void add_to_rows(const T* b, DenseMatrix<T>& y);

/// invalid_argument unless x has `rows` rows (any when negative) of `width` elements.
template <class T>
Status check_input(const Features<T>& x, int64_t rows, int64_t width, const std::string& layer);

}  // namespace pantile::nn
