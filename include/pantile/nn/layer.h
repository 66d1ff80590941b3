#pragma once

#include <pantile/core/error.h>
#include <pantile/nn/dense_matrix.h>
#include <pantile/nn/features.h>
#include <cstdint>
#include <string>
#include <vector>

namespace pantile::nn {

/// A trained tensor and its gradient. Matrices have the layout of torch: a linear map's weight is [out, in].
template <class T>
struct Parameter {
  std::string name;            ///< as in torch-geometric's state_dict, such as "lin.weight"
  std::vector<int64_t> shape;  ///< shape in a checkpoint; the product is value.size()
  DenseMatrix<T> value;
  DenseMatrix<T> gradient;  ///< written, not added to, by each backward pass
  bool decay = true;        ///< whether the optimiser's weight decay applies
};

/// What differs between two passes of the same network.
struct Pass {
  bool training = false;  ///< dropout is active
  uint64_t seed = 0;      ///< of every dropout mask of this pass; the backward pass regenerates the masks from it
};

/// One step of a network with its derivative. A layer owns its output and what its backward pass needs; what forward
/// and backward return is borrowed from it until the next call. Not thread-safe; every pass is bitwise equal for any
/// thread count.
template <class T>
class Layer {
 public:
  virtual ~Layer() = default;
  /// y = f(x). The caller keeps x alive until the backward pass is over.
  /// Errors: invalid_argument (width or node count that the layer was not made for), out_of_memory.
  virtual Result<Features<T>> forward(const Features<T>& x, const Pass& pass) = 0;
  /// From the gradient of the last forward pass's output: writes every parameter's gradient and returns that of x,
  /// which is an empty matrix unless `input_gradient`. Compressed inputs have no gradient (invalid_argument).
  virtual Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) = 0;
  virtual std::vector<Parameter<T>*> parameters() { return {}; }
  /// "GCNConv(1433 -> 64, relu)": for people.
  virtual std::string describe() const = 0;
};

}  // namespace pantile::nn
