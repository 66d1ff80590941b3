#include <pantile/core/thread_pool.h>
#include <pantile/nn/layers.h>
#include <pantile/sparse/gcn.h>

#include <fmt/format.h>

#include "nn/linear_map.h"
#include "nn/reduction.h"

namespace pantile::nn {
namespace {

using sparse::Activation;
using sparse::Direction;

template <class T>
class GcnLayer final : public Layer<T> {
 public:
  GcnLayer(const Topology& topology, const GcnOptions& options,
           std::shared_ptr<const sparse::GcnCoefficients> coefficients, LinearMap<T> map, Parameter<T> bias)
      : topology_(topology),
        options_(options),
        coefficients_(std::move(coefficients)),
        map_(std::move(map)),
        bias_(std::move(bias)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass&) override {
    PANTILE_CHECK(check_input(x, topology_.nodes(), map_.in(), describe()));
    const bool keep = options_.keep_aggregate && x.constant && !x.is_sparse();
    aggregate_first_ = keep || (!x.is_sparse() && map_.in() < map_.out());
    PANTILE_CHECK(y_.resize(topology_.nodes(), map_.out()));
    x_ = x;
    if (aggregate_first_) {
      if (!keep || kept_ != x.dense.data) {
        PANTILE_CHECK(inner_.resize(x.rows, x.width));
        PANTILE_CHECK(aggregate(Direction::by_row, x.dense, nullptr, Activation::none, inner_.view()));
      }
      kept_ = keep ? x.dense.data : nullptr;
      PANTILE_CHECK(map_.apply(Features<T>::of(std::as_const(inner_).view()), false, y_));
      add_bias_and_activate();
    } else {
      PANTILE_CHECK(map_.apply(x, false, inner_));
      kept_ = nullptr;
      PANTILE_CHECK(aggregate(Direction::by_row, std::as_const(inner_).view(), bias_.value.data(), options_.activation,
                              y_.view()));
    }
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    ConstMatrix g = dy;  // [nodes, out] gradient before the activation
    if (options_.activation == Activation::relu) {
      PANTILE_CHECK(through_relu(dy));
      g = std::as_const(dpre_).view();
    }
    PANTILE_CHECK(column_sums(g, partials_, bias_.gradient.data()));
    if (aggregate_first_) {
      PANTILE_CHECK(map_.parameter_gradients(Features<T>::of(std::as_const(inner_).view()), g));
      if (!input_gradient) return ConstMatrix{};
      PANTILE_CHECK(map_.input_gradient(g, false, dinner_));
      PANTILE_CHECK(dx_.resize(topology_.nodes(), map_.in()));
      PANTILE_CHECK(
          aggregate(Direction::by_column, std::as_const(dinner_).view(), nullptr, Activation::none, dx_.view()));
      return std::as_const(dx_).view();
    }
    PANTILE_CHECK(dinner_.resize(topology_.nodes(), map_.out()));
    PANTILE_CHECK(aggregate(Direction::by_column, g, nullptr, Activation::none, dinner_.view()));
    PANTILE_CHECK(map_.parameter_gradients(x_, std::as_const(dinner_).view()));
    if (!input_gradient) return ConstMatrix{};
    PANTILE_CHECK(map_.input_gradient(std::as_const(dinner_).view(), false, dx_));
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> all;
    map_.collect(all);
    all.push_back(&bias_);
    return all;
  }
  std::string describe() const override {
    return fmt::format("GCNConv({} -> {}{})", map_.in(), map_.out(),
                       options_.activation == Activation::relu ? ", relu" : "");
  }

 private:
  Status aggregate(Direction d, ConstMatrix x, const T* bias, Activation activation, Matrix y) const {
    return sparse::gcn(topology_.plain(), d, *coefficients_, x, bias, activation, 0, y);
  }

  void add_bias_and_activate() {
    const bool relu = options_.activation == Activation::relu;
    parallel_for(y_.rows(), 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = y_.row(i);
        for (int64_t j = 0; j < y_.cols(); ++j) {
          const T v = row[j] + bias_.value.data()[j];
          row[j] = relu && v < T{0} ? T{0} : v;  // NaN passes through
        }
      }
    });
  }

  Status through_relu(ConstMatrix dy) {
    PANTILE_CHECK(dpre_.resize(dy.rows, dy.cols));
    parallel_for(dy.rows, 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T *g = dy.as<T>() + i * dy.row_stride, *y = y_.row(i);
        T* out = dpre_.row(i);
        for (int64_t j = 0; j < dy.cols; ++j) out[j] = y[j] > T{0} ? g[j] : T{0};
      }
    });
    return {};
  }

  Topology topology_;
  GcnOptions options_;
  std::shared_ptr<const sparse::GcnCoefficients> coefficients_;
  LinearMap<T> map_;
  Parameter<T> bias_;
  Features<T> x_;
  bool aggregate_first_ = false;
  const void* kept_ = nullptr;  // the constant input whose aggregate inner_ holds
  DenseMatrix<T> inner_;        // [nodes, in] aggregated input, or [nodes, out] transformed input
  DenseMatrix<T> y_, dpre_, dinner_, dx_, partials_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_gcn(const Topology& topology, const GcnOptions& o, Random& random) {
  if (o.activation != Activation::none && o.activation != Activation::relu) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: a GCN layer fuses relu or no activation", o.name));
  }
  PANTILE_TRY(auto coefficients, topology.gcn_coefficients<T>());
  PANTILE_TRY(auto map, LinearMap<T>::make({o.name + ".lin", o.in, o.out, false, Init::glorot}, random));
  PANTILE_TRY(auto bias, make_parameter<T>(o.name + ".bias", {o.out}, Init::zeros, 0, random));
  return std::make_unique<GcnLayer<T>>(topology, o, std::move(coefficients), std::move(map), std::move(bias));
}

template Result<LayerPtr<float>> make_gcn(const Topology&, const GcnOptions&, Random&);
template Result<LayerPtr<double>> make_gcn(const Topology&, const GcnOptions&, Random&);

}  // namespace pantile::nn
