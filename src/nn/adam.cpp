#include <pantile/nn/adam.h>

#include <pantile/core/thread_pool.h>

#include <fmt/format.h>
#include <cmath>

namespace pantile::nn {

template <class T>
Result<Adam<T>> Adam<T>::over(std::vector<Parameter<T>*> parameters, const AdamOptions& options) {
  const auto& o = options;
  if (!(o.learning_rate > 0 && std::isfinite(o.learning_rate))) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("learning rate {} must be positive and finite", o.learning_rate));
  }
  if (!(o.weight_decay >= 0 && std::isfinite(o.weight_decay))) {
    return fail(ErrorCode::invalid_argument, fmt::format("weight decay {} must be >= 0 and finite", o.weight_decay));
  }
  if (!(o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1 && o.epsilon > 0)) {
    return fail(ErrorCode::invalid_argument, fmt::format("beta1 {} and beta2 {} must lie in [0, 1), epsilon {} above 0",
                                                         o.beta1, o.beta2, o.epsilon));
  }
  Adam adam;
  adam.options_ = options;
  adam.parameters_ = std::move(parameters);
  for (const Parameter<T>* p : adam.parameters_) {
    PANTILE_TRY(auto first, DenseMatrix<T>::zeros(p->value.rows(), p->value.cols()));
    PANTILE_TRY(auto second, DenseMatrix<T>::zeros(p->value.rows(), p->value.cols()));
    adam.first_.push_back(std::move(first));
    adam.second_.push_back(std::move(second));
  }
  return adam;
}

template <class T>
void Adam<T>::step() {
  ++steps_;
  const double correction1 = 1 - std::pow(options_.beta1, static_cast<double>(steps_));
  const double correction2 = 1 - std::pow(options_.beta2, static_cast<double>(steps_));
  const T rate = static_cast<T>(options_.learning_rate / correction1);
  const T root = static_cast<T>(std::sqrt(correction2));
  const T beta1 = static_cast<T>(options_.beta1), beta2 = static_cast<T>(options_.beta2);
  const T epsilon = static_cast<T>(options_.epsilon);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Parameter<T>& p = *parameters_[i];
    const T decay = p.decay ? static_cast<T>(options_.weight_decay) : T{0};
    parallel_for(p.value.size(), 16384, [&](int64_t begin, int64_t end) {
      T* value = p.value.data();
      const T* gradient = p.gradient.data();
      T *m = first_[i].data(), *v = second_[i].data();
      for (int64_t k = begin; k < end; ++k) {
        const T g = gradient[k] + decay * value[k];
        m[k] += (g - m[k]) * (T{1} - beta1);
        v[k] = v[k] * beta2 + g * g * (T{1} - beta2);
        value[k] -= rate * m[k] / (std::sqrt(v[k]) / root + epsilon);
      }
    });
  }
}

template class Adam<float>;
template class Adam<double>;

}  // namespace pantile::nn
