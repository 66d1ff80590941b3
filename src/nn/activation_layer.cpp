#include <pantile/core/thread_pool.h>
#include <pantile/nn/layers.h>

#include <fmt/format.h>
#include <cmath>

namespace pantile::nn {
namespace {

template <class T>
class ActivationLayer final : public Layer<T> {
 public:
  ActivationLayer(sparse::Activation activation, double slope)
      : activation_(activation), slope_(static_cast<T>(slope)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass&) override {
    if (activation_ == sparse::Activation::none) return x;
    PANTILE_CHECK(densify(x, y_));
    apply(y_.data(), y_.size());
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    if (!input_gradient) return ConstMatrix{};
    if (activation_ == sparse::Activation::none) return dy;
    PANTILE_CHECK(dx_.resize(dy.rows, dy.cols));
    parallel_for(dx_.size(), 16384, [&](int64_t begin, int64_t end) {
      const T *y = y_.data(), *g = dy.as<T>();
      T* dx = dx_.data();
      const T slope = activation_ == sparse::Activation::relu ? T{0} : slope_;
      if (activation_ == sparse::Activation::elu) {
        for (int64_t k = begin; k < end; ++k) dx[k] = y[k] > 0 ? g[k] : g[k] * (y[k] + T{1});
      } else {
        for (int64_t k = begin; k < end; ++k) dx[k] = y[k] > 0 ? g[k] : g[k] * slope;
      }
    });
    return std::as_const(dx_).view();
  }

  std::string describe() const override {
    switch (activation_) {
      case sparse::Activation::none:
        return "Identity";
      case sparse::Activation::relu:
        return "ReLU";
      case sparse::Activation::elu:
        return "ELU";
      case sparse::Activation::leaky_relu:
        return fmt::format("LeakyReLU({:.3g})", static_cast<double>(slope_));
    }
    return "";
  }

 private:
  void apply(T* y, int64_t size) const {
    parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
      if (activation_ == sparse::Activation::elu) {
        for (int64_t k = begin; k < end; ++k) y[k] = y[k] > 0 ? y[k] : std::expm1(y[k]);
        return;
      }
      const T slope = activation_ == sparse::Activation::relu ? T{0} : slope_;
      for (int64_t k = begin; k < end; ++k) y[k] = y[k] > 0 ? y[k] : y[k] * slope;
    });
  }

  sparse::Activation activation_;
  T slope_;
  DenseMatrix<T> y_, dx_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_activation(sparse::Activation activation, double negative_slope) {
  return std::make_unique<ActivationLayer<T>>(activation, negative_slope);
}

template Result<LayerPtr<float>> make_activation(sparse::Activation, double);
template Result<LayerPtr<double>> make_activation(sparse::Activation, double);

}  // namespace pantile::nn
