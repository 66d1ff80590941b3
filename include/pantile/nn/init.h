#pragma once

#include <pantile/core/random.h>
#include <pantile/nn/layer.h>
#include <cstdint>
#include <string>

namespace pantile::nn {

/// How a parameter starts; the rules are those of torch-geometric's layers.
/// glorot: uniform in +-sqrt(6 / (last dimension + last but one)). fan_in: uniform in +-1/sqrt(fan), torch's Linear.
enum class Init { zeros, glorot, fan_in };

/// A parameter of the given shape (1 to 3 dimensions), filled from `random`. fan: inputs of the map, used by fan_in.
/// Its matrix is [product of the leading dimensions, last dimension]. Errors: out_of_memory.
template <class T>
Result<Parameter<T>> make_parameter(std::string name, std::vector<int64_t> shape, Init init, int64_t fan,
                                    Random& random);

}  // namespace pantile::nn
