#include "fuzz/edge_properties.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {
      "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 5.5\n3 3 -1e5\n",
      "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n",
      "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n"};
  return all;
}

void read(const Input& input) { require_valid(read_matrix_market(input)); }

}  // namespace pantile::fuzz
