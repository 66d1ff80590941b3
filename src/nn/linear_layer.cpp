#include <pantile/nn/layers.h>

#include <fmt/format.h>

#include "nn/linear_map.h"

namespace pantile::nn {
namespace {

template <class T>
class LinearLayer final : public Layer<T> {
 public:
  explicit LinearLayer(LinearMap<T> map) : map_(std::move(map)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass&) override {
    PANTILE_CHECK(check_input(x, -1, map_.in(), describe()));
    PANTILE_CHECK(map_.apply(x, false, y_));
    x_ = x;
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    PANTILE_CHECK(map_.parameter_gradients(x_, dy));
    if (!input_gradient) return ConstMatrix{};
    PANTILE_CHECK(map_.input_gradient(dy, false, dx_));
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> all;
    map_.collect(all);
    return all;
  }
  std::string describe() const override { return fmt::format("Linear({} -> {})", map_.in(), map_.out()); }

 private:
  LinearMap<T> map_;
  Features<T> x_;
  DenseMatrix<T> y_, dx_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_linear(const LinearOptions& o, Random& random) {
  PANTILE_TRY(auto map, LinearMap<T>::make({o.name, o.in, o.out, o.bias, Init::fan_in}, random));
  return std::make_unique<LinearLayer<T>>(std::move(map));
}

template Result<LayerPtr<float>> make_linear(const LinearOptions&, Random&);
template Result<LayerPtr<double>> make_linear(const LinearOptions&, Random&);

}  // namespace pantile::nn
