#include <pantile/io/npy.h>

#include "fuzz/fuzz_reader.h"
#include "fuzz/written.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {
      written([](const std::string& path) {
        const float x[6] = {1, 2, 3, 4, 5, 6};
        return write_npy(path, {x, DType::f32, {2, 3}});
      }),
      std::string("\x93NUMPY\x01\0\x3d\0", 10) +
          "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }   \n12345678"};
  return all;
}

void read(const Input& input) {
  const auto tensor = read_npy(input);
  if (tensor) require(tensor->buffer.bytes() == static_cast<size_t>(tensor->size()) * size_of(tensor->dtype));
}

}  // namespace pantile::fuzz
