#include <pantile/io/npy.h>

#include "fuzz/fuzz_reader.h"
#include "fuzz/written.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {
      written([](const std::string& path) {
        const float x[6] = {1, 2, 3, 4, 5, 6};
        return write_npz(path, {{"a", {x, DType::f32, {2, 3}}}, {"b", {x, DType::u8, {4}}}});
      }),
      written([](const std::string& path) {
        const float x[6] = {1, 2, 3, 4, 5, 6};
        return write_npz(path, {{"a", {x, DType::f32, {6}}}}, true);
      })};
  return all;
}

void read(const Input& input) {
  const auto arrays = read_npz(input);
  if (!arrays) return;
  for (const auto& [name, tensor] : *arrays)
    require(tensor.buffer.bytes() == static_cast<size_t>(tensor.size()) * size_of(tensor.dtype));
}

}  // namespace pantile::fuzz
