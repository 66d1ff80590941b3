#include <pantile/core/thread_pool.h>
#include <pantile/nn/layers.h>
#include <pantile/sparse/spmm.h>

#include <fmt/format.h>

#include "nn/linear_map.h"
#include "nn/reduction.h"

namespace pantile::nn {
namespace {

using sparse::Direction;

template <class T>
class GinLayer final : public Layer<T> {
 public:
  GinLayer(const Topology& topology, const GinOptions& options, LinearMap<T> first, Parameter<T> bias,
           LinearMap<T> second)
      : topology_(topology),
        options_(options),
        first_(std::move(first)),
        bias_(std::move(bias)),
        second_(std::move(second)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass&) override {
    PANTILE_CHECK(check_input(x, topology_.nodes(), first_.in(), describe()));
    const bool keep = options_.keep_aggregate && x.constant && !x.is_sparse();
    aggregate_first_ = keep || (!x.is_sparse() && first_.in() <= first_.out());
    x_ = x;
    if (aggregate_first_) {
      if (!keep || kept_ != x.dense.data) {
        PANTILE_CHECK(inner_.resize(x.rows, x.width));
        PANTILE_CHECK(aggregate(Direction::by_row, x.dense, inner_.view()));
      }
      kept_ = keep ? x.dense.data : nullptr;
      PANTILE_CHECK(first_.apply(Features<T>::of(std::as_const(inner_).view()), false, hidden_));
    } else {
      kept_ = nullptr;
      PANTILE_CHECK(first_.apply(x, false, inner_));
      PANTILE_CHECK(hidden_.resize(x.rows, first_.out()));
      PANTILE_CHECK(aggregate(Direction::by_row, std::as_const(inner_).view(), hidden_.view()));
    }
    add_to_rows(bias_.value.data(), hidden_);
    parallel_for(hidden_.size(), 16384, [&](int64_t begin, int64_t end) {
      T* h = hidden_.data();
      for (int64_t k = begin; k < end; ++k) h[k] = h[k] < T{0} ? T{0} : h[k];  // NaN passes through
    });
    PANTILE_CHECK(second_.apply(Features<T>::of(std::as_const(hidden_).view()), false, y_));
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    PANTILE_CHECK(second_.parameter_gradients(Features<T>::of(std::as_const(hidden_).view()), dy));
    PANTILE_CHECK(second_.input_gradient(dy, false, dhidden_));
    parallel_for(hidden_.size(), 16384, [&](int64_t begin, int64_t end) {
      const T* h = hidden_.data();
      T* d = dhidden_.data();
      for (int64_t k = begin; k < end; ++k) d[k] = h[k] > T{0} ? d[k] : T{0};
    });
    const ConstMatrix g = std::as_const(dhidden_).view();
    PANTILE_CHECK(column_sums(g, partials_, bias_.gradient.data()));
    if (aggregate_first_) {
      PANTILE_CHECK(first_.parameter_gradients(Features<T>::of(std::as_const(inner_).view()), g));
      if (!input_gradient) return ConstMatrix{};
      PANTILE_CHECK(first_.input_gradient(g, false, dinner_));
      PANTILE_CHECK(dx_.resize(topology_.nodes(), first_.in()));
      PANTILE_CHECK(aggregate(Direction::by_column, std::as_const(dinner_).view(), dx_.view()));
      return std::as_const(dx_).view();
    }
    PANTILE_CHECK(dinner_.resize(topology_.nodes(), first_.out()));
    PANTILE_CHECK(aggregate(Direction::by_column, g, dinner_.view()));
    PANTILE_CHECK(first_.parameter_gradients(x_, std::as_const(dinner_).view()));
    if (!input_gradient) return ConstMatrix{};
    PANTILE_CHECK(first_.input_gradient(std::as_const(dinner_).view(), false, dx_));
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> all;
    first_.collect(all);
    all.push_back(&bias_);
    second_.collect(all);
    return all;
  }
  std::string describe() const override {
    return fmt::format("GINConv({} -> {} -> {})", first_.in(), first_.out(), second_.out());
  }

 private:
  /// y = (1 + epsilon) x + A x, or with A^T.
  Status aggregate(Direction d, ConstMatrix x, Matrix y) const {
    PANTILE_CHECK(sparse::spmm(topology_.plain(), d, sparse::Reduce::sum, x, {}, y));
    const T self = static_cast<T>(1 + options_.epsilon);
    parallel_for(y.rows, 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* in = x.as<T>() + i * x.row_stride;
        T* out = y.as<T>() + i * y.row_stride;
        for (int64_t j = 0; j < y.cols; ++j) out[j] += self * in[j];
      }
    });
    return {};
  }

  Topology topology_;
  GinOptions options_;
  LinearMap<T> first_;
  Parameter<T> bias_;  // of the first map: added after the aggregation, wherever that is
  LinearMap<T> second_;
  Features<T> x_;
  bool aggregate_first_ = false;
  const void* kept_ = nullptr;  // the constant input whose aggregate inner_ holds
  DenseMatrix<T> inner_;        // [nodes, in] aggregated input, or [nodes, hidden] transformed input
  DenseMatrix<T> hidden_, y_, dhidden_, dinner_, dx_, partials_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_gin(const Topology& topology, const GinOptions& o, Random& random) {
  PANTILE_TRY(auto first, LinearMap<T>::make({o.name + ".nn.0", o.in, o.hidden, false, Init::fan_in}, random));
  PANTILE_TRY(auto bias, make_parameter<T>(o.name + ".nn.0.bias", {o.hidden}, Init::fan_in, o.in, random));
  PANTILE_TRY(auto second, LinearMap<T>::make({o.name + ".nn.2", o.hidden, o.out, true, Init::fan_in}, random));
  return std::make_unique<GinLayer<T>>(topology, o, std::move(first), std::move(bias), std::move(second));
}

template Result<LayerPtr<float>> make_gin(const Topology&, const GinOptions&, Random&);
template Result<LayerPtr<double>> make_gin(const Topology&, const GinOptions&, Random&);

}  // namespace pantile::nn
