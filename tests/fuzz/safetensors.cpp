#include <pantile/io/safetensors.h>

#include "fuzz/fuzz_reader.h"
#include "fuzz/written.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {written([](const std::string& path) {
    const float x[6] = {1, 2, 3, 4, 5, 6};
    return write_safetensors(path, {{"a", {x, DType::f32, {2, 3}}}, {"b", {x, DType::bf16, {4}}}}, {{"k", "v"}});
  })};
  return all;
}

void read(const Input& input) {
  const auto file = read_safetensors(input);
  if (!file) return;
  for (const auto& [name, tensor] : file->tensors)
    require(tensor.buffer.bytes() == static_cast<size_t>(tensor.size()) * size_of(tensor.dtype));
}

}  // namespace pantile::fuzz
