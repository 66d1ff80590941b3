#include <pantile/nn/layers.h>
#include <pantile/sparse/attention.h>

#include "nn/heads.h"
#include "nn/linear_map.h"
#include "nn/reduction.h"

namespace pantile::nn {
namespace {

template <class T>
class GatLayer final : public Layer<T> {
 public:
  GatLayer(sparse::Plan plan, const AttentionOptions& options, LinearMap<T> map, Parameter<T> source,
           Parameter<T> target, Parameter<T> bias)
      : plan_(std::move(plan)),
        options_(options),
        map_(std::move(map)),
        source_(std::move(source)),
        target_(std::move(target)),
        bias_(std::move(bias)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass& pass) override {
    const int64_t nodes = plan_.graph().rows();
    PANTILE_CHECK(check_input(x, nodes, options_.in, describe()));
    x_ = x;
    PANTILE_CHECK(map_.apply(x, false, v_));
    PANTILE_CHECK(a_src_.resize(nodes, options_.heads));
    PANTILE_CHECK(a_dst_.resize(nodes, options_.heads));
    head_dots(v_, source_.value, a_src_);
    head_dots(v_, target_.value, a_dst_);
    PANTILE_CHECK(attended_.resize(nodes, map_.out()));
    PANTILE_CHECK(lse_.resize(nodes, options_.heads));
    dropout_ = {pass.training ? options_.dropout : 0.0, pass.seed ^ options_.stream};
    PANTILE_CHECK(sparse::gat(plan_, inputs(), attended_.view(), lse_.view()));
    PANTILE_CHECK(join_heads(attended_, options_.heads, options_.concat, y_));
    add_to_rows(bias_.value.data(), y_);
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    PANTILE_CHECK(column_sums(dy, partials_, bias_.gradient.data()));
    PANTILE_TRY(const ConstMatrix g, split_heads(dy, options_.heads, options_.concat, split_));
    PANTILE_CHECK(da_src_.resize(a_src_.rows(), a_src_.cols()));
    PANTILE_CHECK(da_dst_.resize(a_dst_.rows(), a_dst_.cols()));
    PANTILE_CHECK(dv_.resize(v_.rows(), v_.cols()));
    PANTILE_CHECK(sparse::gat_grad(plan_, inputs(), std::as_const(attended_).view(), std::as_const(lse_).view(), g,
                                   {da_src_.view(), da_dst_.view(), {}, dv_.view()}));
    PANTILE_CHECK(head_dots_gradient(v_, source_.value, da_src_, partials_, dv_, source_.gradient));
    PANTILE_CHECK(head_dots_gradient(v_, target_.value, da_dst_, partials_, dv_, target_.gradient));
    PANTILE_CHECK(map_.parameter_gradients(x_, std::as_const(dv_).view()));
    if (!input_gradient) return ConstMatrix{};
    PANTILE_CHECK(map_.input_gradient(std::as_const(dv_).view(), false, dx_));
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> all;
    map_.collect(all);
    all.insert(all.end(), {&source_, &target_, &bias_});
    return all;
  }
  std::string describe() const override { return describe_attention("GATConv", options_); }

 private:
  sparse::GatInputs inputs() const {
    return {a_src_.view(), a_dst_.view(), {}, v_.view(), options_.heads, options_.negative_slope, dropout_};
  }

  sparse::Plan plan_;
  AttentionOptions options_;
  LinearMap<T> map_;
  Parameter<T> source_, target_;  // [1, heads, out] in a checkpoint, [heads, out] here
  Parameter<T> bias_;
  Features<T> x_;
  sparse::AttentionDropout dropout_;
  DenseMatrix<T> v_, attended_;         // [nodes, heads * out]
  DenseMatrix<T> a_src_, a_dst_, lse_;  // [nodes, heads]
  DenseMatrix<T> y_, split_, dv_, da_src_, da_dst_, dx_, partials_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_gat(const Topology& topology, const AttentionOptions& o, Random& random) {
  PANTILE_CHECK(check_attention(o));
  PANTILE_TRY(auto plan, topology.looped());
  PANTILE_TRY(auto map, LinearMap<T>::make({o.name + ".lin", o.in, o.heads * o.out, false, Init::glorot}, random));
  PANTILE_TRY(auto source, make_parameter<T>(o.name + ".att_src", {1, o.heads, o.out}, Init::glorot, 0, random));
  PANTILE_TRY(auto target, make_parameter<T>(o.name + ".att_dst", {1, o.heads, o.out}, Init::glorot, 0, random));
  const int64_t width = o.concat ? o.heads * o.out : o.out;
  PANTILE_TRY(auto bias, make_parameter<T>(o.name + ".bias", {width}, Init::zeros, 0, random));
  return std::make_unique<GatLayer<T>>(std::move(plan), o, std::move(map), std::move(source), std::move(target),
                                       std::move(bias));
}

template Result<LayerPtr<float>> make_gat(const Topology&, const AttentionOptions&, Random&);
template Result<LayerPtr<double>> make_gat(const Topology&, const AttentionOptions&, Random&);

}  // namespace pantile::nn
