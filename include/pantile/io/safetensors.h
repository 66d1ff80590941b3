#pragma once

#include <pantile/io/file.h>
#include <pantile/io/tensor.h>
#include <map>
#include <string>

namespace pantile {

/// The content of a .safetensors file.
struct SafeTensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;  ///< "__metadata__"
};

/// Header of at most 100 MB, offsets that tile the data exactly (no overlap, no hole), sizes equal to shape times type,
/// no duplicate names: all checked before tensors are allocated. Errors: corrupt, naming the tensor; unsupported for
/// unknown types.
Result<SafeTensors> read_safetensors(const Input& input);

/// Tensors in the order of their names, data aligned to 8 bytes; atomic.
Status write_safetensors(const std::string& path, const std::map<std::string, TensorView>& tensors,
                         const std::map<std::string, std::string>& metadata = {});

}  // namespace pantile
