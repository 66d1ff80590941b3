#include <pantile/nn/layers.h>
#include <pantile/sparse/attention.h>

#include "nn/heads.h"
#include "nn/linear_map.h"

namespace pantile::nn {
namespace {

template <class T>
class TransformerLayer final : public Layer<T> {
 public:
  TransformerLayer(sparse::Plan plan, const AttentionOptions& options, LinearMap<T> key, LinearMap<T> query,
                   LinearMap<T> value, LinearMap<T> skip)
      : plan_(std::move(plan)),
        options_(options),
        key_(std::move(key)),
        query_(std::move(query)),
        value_(std::move(value)),
        skip_(std::move(skip)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass& pass) override {
    const int64_t nodes = plan_.graph().rows();
    PANTILE_CHECK(check_input(x, nodes, options_.in, describe()));
    x_ = x;
    PANTILE_CHECK(query_.apply(x, false, q_));
    PANTILE_CHECK(key_.apply(x, false, k_));
    PANTILE_CHECK(value_.apply(x, false, v_));
    PANTILE_CHECK(attended_.resize(nodes, value_.out()));
    PANTILE_CHECK(lse_.resize(nodes, options_.heads));
    dropout_ = {pass.training ? options_.dropout : 0.0, pass.seed ^ options_.stream};
    PANTILE_CHECK(sparse::transformer(plan_, inputs(), attended_.view(), lse_.view()));
    PANTILE_CHECK(join_heads(attended_, options_.heads, options_.concat, y_));
    PANTILE_CHECK(skip_.apply(x, true, y_));
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    PANTILE_CHECK(skip_.parameter_gradients(x_, dy));
    PANTILE_TRY(const ConstMatrix g, split_heads(dy, options_.heads, options_.concat, split_));
    for (DenseMatrix<T>* d : {&dq_, &dk_, &dv_}) PANTILE_CHECK(d->resize(v_.rows(), v_.cols()));
    PANTILE_CHECK(sparse::transformer_grad(plan_, inputs(), std::as_const(attended_).view(), std::as_const(lse_).view(),
                                           g, {dq_.view(), dk_.view(), dv_.view(), {}}));
    PANTILE_CHECK(query_.parameter_gradients(x_, std::as_const(dq_).view()));
    PANTILE_CHECK(key_.parameter_gradients(x_, std::as_const(dk_).view()));
    PANTILE_CHECK(value_.parameter_gradients(x_, std::as_const(dv_).view()));
    if (!input_gradient) return ConstMatrix{};
    PANTILE_CHECK(skip_.input_gradient(dy, false, dx_));
    PANTILE_CHECK(query_.input_gradient(std::as_const(dq_).view(), true, dx_));
    PANTILE_CHECK(key_.input_gradient(std::as_const(dk_).view(), true, dx_));
    PANTILE_CHECK(value_.input_gradient(std::as_const(dv_).view(), true, dx_));
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> all;
    for (LinearMap<T>* map : {&key_, &query_, &value_, &skip_}) map->collect(all);
    return all;
  }
  std::string describe() const override { return describe_attention("TransformerConv", options_); }

 private:
  sparse::TransformerInputs inputs() const { return {q_.view(), k_.view(), v_.view(), {}, options_.heads, dropout_}; }

  sparse::Plan plan_;
  AttentionOptions options_;
  LinearMap<T> key_, query_, value_, skip_;
  Features<T> x_;
  sparse::AttentionDropout dropout_;
  DenseMatrix<T> q_, k_, v_, attended_;  // [nodes, heads * out]
  DenseMatrix<T> lse_;                   // [nodes, heads]
  DenseMatrix<T> y_, split_, dq_, dk_, dv_, dx_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_transformer(const Topology& topology, const AttentionOptions& o, Random& random) {
  PANTILE_CHECK(check_attention(o));
  const int64_t wide = o.heads * o.out;
  PANTILE_TRY(auto key, LinearMap<T>::make({o.name + ".lin_key", o.in, wide, true, Init::fan_in}, random));
  PANTILE_TRY(auto query, LinearMap<T>::make({o.name + ".lin_query", o.in, wide, true, Init::fan_in}, random));
  PANTILE_TRY(auto value, LinearMap<T>::make({o.name + ".lin_value", o.in, wide, true, Init::fan_in}, random));
  PANTILE_TRY(auto skip,
              LinearMap<T>::make({o.name + ".lin_skip", o.in, o.concat ? wide : o.out, true, Init::fan_in}, random));
  return std::make_unique<TransformerLayer<T>>(topology.plain(), o, std::move(key), std::move(query), std::move(value),
                                               std::move(skip));
}

template Result<LayerPtr<float>> make_transformer(const Topology&, const AttentionOptions&, Random&);
template Result<LayerPtr<double>> make_transformer(const Topology&, const AttentionOptions&, Random&);

}  // namespace pantile::nn
