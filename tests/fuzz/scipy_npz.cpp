#include "fuzz/edge_properties.h"
#include "fuzz/written.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {written([](const std::string& path) {
                                                 const int64_t src[3] = {1, 0, 2}, dst[3] = {0, 1, 1};
                                                 return write_scipy_npz(path, {src, dst, {}, 3, 3});
                                               }),
                                               written([](const std::string& path) {
                                                 const int64_t src[1] = {1}, dst[1] = {0};
                                                 return write_scipy_npz(path, {src, dst, {}, 2, 1}, true);
                                               })};
  return all;
}

void read(const Input& input) { require_valid(read_scipy_npz(input)); }

}  // namespace pantile::fuzz
