#include "fuzz/edge_properties.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {"3 2 011\n1 2 5\n1 1 5 3 6\n1 2 6\n", "% c\n4 2\n2\n1 3\n2\n\n",
                                               "2 1 111 2\n9 8 7 2 5\n9 8 7 1 5\n"};
  return all;
}

void read(const Input& input) { require_valid(read_metis(input)); }

}  // namespace pantile::fuzz
