#include <pantile/nn/layers.h>
#include <pantile/sparse/spmm.h>

#include <fmt/format.h>
#include <optional>

#include "nn/linear_map.h"
#include "nn/reduction.h"

namespace pantile::nn {
namespace {

using sparse::Direction;
using sparse::Reduce;

Reduce reduce_of(Aggregation a) {
  return a == Aggregation::mean ? Reduce::mean : a == Aggregation::max ? Reduce::max : Reduce::sum;
}

const char* name(Aggregation a) { return a == Aggregation::mean ? "mean" : a == Aggregation::max ? "max" : "sum"; }

template <class T>
class SageLayer final : public Layer<T> {
 public:
  SageLayer(const Topology& topology, const SageOptions& options, LinearMap<T> neighbours, Parameter<T> bias,
            std::optional<LinearMap<T>> root)
      : topology_(topology),
        options_(options),
        neighbours_(std::move(neighbours)),
        bias_(std::move(bias)),
        root_(std::move(root)) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass&) override {
    PANTILE_CHECK(check_input(x, topology_.nodes(), neighbours_.in(), describe()));
    const bool maximum = options_.aggregation == Aggregation::max;  // does not commute with the linear map
    const bool keep = options_.keep_aggregate && x.constant && !x.is_sparse();
    aggregate_first_ = maximum || keep || (!x.is_sparse() && neighbours_.in() <= neighbours_.out());
    x_ = x;
    if (aggregate_first_) {
      if (!keep || kept_ != x.dense.data) PANTILE_CHECK(aggregate_input(x));
      kept_ = keep ? x.dense.data : nullptr;
      PANTILE_CHECK(neighbours_.apply(Features<T>::of(std::as_const(inner_).view()), false, y_));
    } else {
      kept_ = nullptr;
      PANTILE_CHECK(neighbours_.apply(x, false, inner_));
      PANTILE_CHECK(y_.resize(x.rows, neighbours_.out()));
      PANTILE_CHECK(sparse::spmm(topology_.plain(), Direction::by_row, reduce_of(options_.aggregation),
                                 std::as_const(inner_).view(), {}, y_.view()));
    }
    if (root_) PANTILE_CHECK(root_->apply(x, true, y_));
    add_to_rows(bias_.value.data(), y_);
    return Features<T>::of(std::as_const(y_).view());
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    PANTILE_CHECK(column_sums(dy, partials_, bias_.gradient.data()));
    if (root_) PANTILE_CHECK(root_->parameter_gradients(x_, dy));
    if (aggregate_first_) {
      PANTILE_CHECK(neighbours_.parameter_gradients(Features<T>::of(std::as_const(inner_).view()), dy));
      if (!input_gradient) return ConstMatrix{};
      PANTILE_CHECK(neighbours_.input_gradient(dy, false, dinner_));
      PANTILE_CHECK(dx_.resize(topology_.nodes(), neighbours_.in()));
      PANTILE_CHECK(scatter(std::as_const(dinner_).view(), dx_.view()));
    } else {
      PANTILE_CHECK(dinner_.resize(topology_.nodes(), neighbours_.out()));
      PANTILE_CHECK(scatter(dy, dinner_.view()));
      PANTILE_CHECK(neighbours_.parameter_gradients(x_, std::as_const(dinner_).view()));
      if (!input_gradient) return ConstMatrix{};
      PANTILE_CHECK(neighbours_.input_gradient(std::as_const(dinner_).view(), false, dx_));
    }
    if (root_) PANTILE_CHECK(root_->input_gradient(dy, true, dx_));
    return std::as_const(dx_).view();
  }

  std::vector<Parameter<T>*> parameters() override {
    std::vector<Parameter<T>*> all;
    neighbours_.collect(all);
    all.push_back(&bias_);
    if (root_) root_->collect(all);
    return all;
  }
  std::string describe() const override {
    return fmt::format("SAGEConv({} -> {}, {})", neighbours_.in(), neighbours_.out(), name(options_.aggregation));
  }

 private:
  Status aggregate_input(const Features<T>& x) {
    ConstMatrix dense = x.dense;
    if (x.is_sparse()) {
      PANTILE_CHECK(densify(x, dense_input_));
      dense = std::as_const(dense_input_).view();
    }
    PANTILE_CHECK(inner_.resize(x.rows, x.width));
    if (options_.aggregation != Aggregation::max) {
      return sparse::spmm(topology_.plain(), Direction::by_row, reduce_of(options_.aggregation), dense, {},
                          inner_.view());
    }
    if (arg_.size() < inner_.size()) {
      PANTILE_TRY(arg_, Array<int64_t>::allocate(inner_.size()));
    }
    return sparse::spmm_arg(topology_.plain(), Reduce::max, dense, {}, inner_.view(), arg_.data());
  }

  Status scatter(ConstMatrix dy, Matrix dx) const {
    return sparse::spmm_grad_x(topology_.plain(), reduce_of(options_.aggregation), {}, dy, arg_.data(), dx);
  }

  Topology topology_;
  SageOptions options_;
  LinearMap<T> neighbours_;
  Parameter<T> bias_;
  std::optional<LinearMap<T>> root_;
  Features<T> x_;
  bool aggregate_first_ = false;
  const void* kept_ = nullptr;  // the constant input whose aggregate inner_ holds
  DenseMatrix<T> inner_;        // [nodes, in] aggregated input, or [nodes, out] transformed input
  Array<int64_t> arg_;          // [nodes, in] winning edges of max
  DenseMatrix<T> dense_input_, y_, dinner_, dx_, partials_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_sage(const Topology& topology, const SageOptions& o, Random& random) {
  PANTILE_TRY(auto neighbours, LinearMap<T>::make({o.name + ".lin_l", o.in, o.out, false, Init::fan_in}, random));
  PANTILE_TRY(auto bias, make_parameter<T>(o.name + ".lin_l.bias", {o.out}, Init::fan_in, o.in, random));
  std::optional<LinearMap<T>> root;
  if (o.root_weight) {
    PANTILE_TRY(root, LinearMap<T>::make({o.name + ".lin_r", o.in, o.out, false, Init::fan_in}, random));
  }
  return std::make_unique<SageLayer<T>>(topology, o, std::move(neighbours), std::move(bias), std::move(root));
}

template Result<LayerPtr<float>> make_sage(const Topology&, const SageOptions&, Random&);
template Result<LayerPtr<double>> make_sage(const Topology&, const SageOptions&, Random&);

}  // namespace pantile::nn
