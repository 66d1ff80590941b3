#pragma once

#include <pantile/nn/layer.h>
#include <cstdint>
#include <vector>

namespace pantile::nn {

struct AdamOptions {
  double learning_rate = 0.01;
  double weight_decay = 0;  ///< coupled: added to the gradient as decay * value, as torch.optim.Adam does
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

/// Adam (Kingma and Ba 2015, algorithm 1) with torch.optim.Adam's order of operations.
template <class T>
class Adam {
 public:
  /// Parameters are borrowed: they must outlive the optimiser. Errors: invalid_argument (options), out_of_memory.
  static Result<Adam> over(std::vector<Parameter<T>*> parameters, const AdamOptions& options);
  /// One update from the parameters' gradients.
  void step();

 private:
  AdamOptions options_;
  std::vector<Parameter<T>*> parameters_;
  std::vector<DenseMatrix<T>> first_, second_;  // moments, one pair per parameter
  int64_t steps_ = 0;
};

extern template class Adam<float>;
extern template class Adam<double>;

}  // namespace pantile::nn
