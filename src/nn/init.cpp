#include <pantile/nn/init.h>

#include <cmath>

namespace pantile::nn {

template <class T>
Result<Parameter<T>> make_parameter(std::string name, std::vector<int64_t> shape, Init init, int64_t fan,
                                    Random& random) {
  Parameter<T> p;
  p.name = std::move(name);
  const int64_t last = shape.back();
  int64_t leading = 1;
  for (size_t d = 0; d + 1 < shape.size(); ++d) {
    PANTILE_TRY(leading, checked_multiply(leading, shape[d]));
  }
  PANTILE_TRY(p.value, DenseMatrix<T>::zeros(leading, last));
  PANTILE_TRY(p.gradient, DenseMatrix<T>::zeros(leading, last));
  const int64_t before_last = shape.size() >= 2 ? shape[shape.size() - 2] : 0;
  p.shape = std::move(shape);
  double bound = 0;
  if (init == Init::glorot && last + before_last > 0) bound = std::sqrt(6.0 / static_cast<double>(last + before_last));
  if (init == Init::fan_in && fan > 0) bound = 1.0 / std::sqrt(static_cast<double>(fan));
  if (init != Init::zeros) {
    for (T& v : p.value.span()) v = static_cast<T>((2 * random.uniform_double() - 1) * bound);
  }
  return p;
}

template Result<Parameter<float>> make_parameter(std::string, std::vector<int64_t>, Init, int64_t, Random&);
template Result<Parameter<double>> make_parameter(std::string, std::vector<int64_t>, Init, int64_t, Random&);

}  // namespace pantile::nn
