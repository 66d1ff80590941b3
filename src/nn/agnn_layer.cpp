#include <pantile/nn/init.h>
#include <pantile/nn/layers.h>
#include <pantile/sparse/attention.h>

#include <fmt/format.h>

#include "nn/linear_map.h"

namespace pantile::nn {
namespace {

template <class T>
class AgnnLayer final : public Layer<T> {
 public:
  AgnnLayer(sparse::Plan plan, const AgnnOptions& options, Parameter<T> beta)
      : plan_(std::move(plan)), options_(options), beta_(std::move(beta)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass&) override {
    const int64_t nodes = plan_.graph().rows();
    PANTILE_CHECK(check_input(x, nodes, x.width, describe()));
    dense_ = x.dense;
    if (x.is_sparse()) {
      PANTILE_CHECK(densify(x, dense_input_));
      dense_ = std::as_const(dense_input_).view();
    }
    PANTILE_CHECK(y_.resize(nodes, x.width));
    PANTILE_CHECK(lse_.resize(nodes, 1));
    PANTILE_CHECK(sparse::agnn(plan_, inputs(), y_.view(), lse_.view()));
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    if (!input_gradient && !options_.train_beta) return ConstMatrix{};
    PANTILE_CHECK(dx_.resize(y_.rows(), y_.cols()));
    double dbeta = 0;
    PANTILE_CHECK(sparse::agnn_grad(plan_, inputs(), std::as_const(y_).view(), std::as_const(lse_).view(), dy,
                                    {dx_.view(), &dbeta}));
    beta_.gradient(0, 0) = static_cast<T>(dbeta);
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    if (!options_.train_beta) return {};
    return {&beta_};
  }
  std::string describe() const override { return options_.train_beta ? "AGNNConv" : "AGNNConv(beta 1)"; }

 private:
  sparse::AgnnInputs inputs() const { return {dense_, static_cast<double>(beta_.value(0, 0))}; }

  sparse::Plan plan_;
  AgnnOptions options_;
  Parameter<T> beta_;  // [1]
  ConstMatrix dense_;
  DenseMatrix<T> dense_input_, y_, lse_, dx_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_agnn(const Topology& topology, const AgnnOptions& o) {
  PANTILE_TRY(auto plan, topology.looped());
  Random unused(0);
  PANTILE_TRY(auto beta, make_parameter<T>(o.name + ".beta", {1}, Init::zeros, 0, unused));
  beta.value.fill(T{1});
  return std::make_unique<AgnnLayer<T>>(std::move(plan), o, std::move(beta));
}

template Result<LayerPtr<float>> make_agnn(const Topology&, const AgnnOptions&);
template Result<LayerPtr<double>> make_agnn(const Topology&, const AgnnOptions&);

}  // namespace pantile::nn
