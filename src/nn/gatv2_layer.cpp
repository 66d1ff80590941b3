#include <pantile/nn/layers.h>
#include <pantile/sparse/attention.h>

#include "nn/heads.h"
#include "nn/linear_map.h"
#include "nn/reduction.h"

namespace pantile::nn {
namespace {

template <class T>
class Gatv2Layer final : public Layer<T> {
 public:
  Gatv2Layer(sparse::Plan plan, const AttentionOptions& options, LinearMap<T> left, LinearMap<T> right,
             Parameter<T> attention, Parameter<T> bias)
      : plan_(std::move(plan)),
        options_(options),
        left_(std::move(left)),
        right_(std::move(right)),
        attention_(std::move(attention)),
        bias_(std::move(bias)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass& pass) override {
    const int64_t nodes = plan_.graph().rows();
    PANTILE_CHECK(check_input(x, nodes, options_.in, describe()));
    x_ = x;
    PANTILE_CHECK(left_.apply(x, false, l_));
    PANTILE_CHECK(right_.apply(x, false, r_));
    PANTILE_CHECK(attended_.resize(nodes, left_.out()));
    PANTILE_CHECK(lse_.resize(nodes, options_.heads));
    dropout_ = {pass.training ? options_.dropout : 0.0, pass.seed ^ options_.stream};
    PANTILE_CHECK(sparse::gatv2(plan_, inputs(), attended_.view(), lse_.view()));
    PANTILE_CHECK(join_heads(attended_, options_.heads, options_.concat, y_));
    add_to_rows(bias_.value.data(), y_);
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    PANTILE_CHECK(column_sums(dy, partials_, bias_.gradient.data()));
    PANTILE_TRY(const ConstMatrix g, split_heads(dy, options_.heads, options_.concat, split_));
    PANTILE_CHECK(dl_.resize(l_.rows(), l_.cols()));
    PANTILE_CHECK(dr_.resize(r_.rows(), r_.cols()));
    PANTILE_CHECK(sparse::gatv2_grad(plan_, inputs(), std::as_const(attended_).view(), std::as_const(lse_).view(), g,
                                     {dl_.view(), dr_.view(), {}, attention_.gradient.view()}));
    PANTILE_CHECK(left_.parameter_gradients(x_, std::as_const(dl_).view()));
    PANTILE_CHECK(right_.parameter_gradients(x_, std::as_const(dr_).view()));
    if (!input_gradient) return ConstMatrix{};
    PANTILE_CHECK(left_.input_gradient(std::as_const(dl_).view(), false, dx_));
    PANTILE_CHECK(right_.input_gradient(std::as_const(dr_).view(), true, dx_));
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> all;
    left_.collect(all);
    right_.collect(all);
    all.insert(all.end(), {&attention_, &bias_});
    return all;
  }
  std::string describe() const override { return describe_attention("GATv2Conv", options_); }

 private:
  sparse::Gatv2Inputs inputs() const {
    return {l_.view(), r_.view(), {}, attention_.value.view(), options_.heads, options_.negative_slope, dropout_};
  }

  sparse::Plan plan_;
  AttentionOptions options_;
  LinearMap<T> left_, right_;  // of sources (also the values) and of destinations
  Parameter<T> attention_;     // [1, heads, out] in a checkpoint, [heads, out] here
  Parameter<T> bias_;
  Features<T> x_;
  sparse::AttentionDropout dropout_;
  DenseMatrix<T> l_, r_, attended_;  // [nodes, heads * out]
  DenseMatrix<T> lse_;               // [nodes, heads]
  DenseMatrix<T> y_, split_, dl_, dr_, dx_, partials_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_gatv2(const Topology& topology, const AttentionOptions& o, Random& random) {
  PANTILE_CHECK(check_attention(o));
  PANTILE_TRY(auto plan, topology.looped());
  PANTILE_TRY(auto left, LinearMap<T>::make({o.name + ".lin_l", o.in, o.heads * o.out, true, Init::glorot}, random));
  PANTILE_TRY(auto right, LinearMap<T>::make({o.name + ".lin_r", o.in, o.heads * o.out, true, Init::glorot}, random));
  PANTILE_TRY(auto attention, make_parameter<T>(o.name + ".att", {1, o.heads, o.out}, Init::glorot, 0, random));
  const int64_t width = o.concat ? o.heads * o.out : o.out;
  PANTILE_TRY(auto bias, make_parameter<T>(o.name + ".bias", {width}, Init::zeros, 0, random));
  return std::make_unique<Gatv2Layer<T>>(std::move(plan), o, std::move(left), std::move(right), std::move(attention),
                                         std::move(bias));
}

template Result<LayerPtr<float>> make_gatv2(const Topology&, const AttentionOptions&, Random&);
template Result<LayerPtr<double>> make_gatv2(const Topology&, const AttentionOptions&, Random&);

}  // namespace pantile::nn
