#include "fuzz/edge_properties.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {"# directed, 0-based; n=5 m=2\n0,1,2.5\n1 2\t3\n",
                                               "4,2,u,graph\n1,2\n3,3\n", "src,dst\n0;1\n", "0 1\n"};
  return all;
}

void read(const Input& input) {
  require_valid(read_csv_edges(input));
  require_valid(read_csv_edges(input, {.base = 1, .undirected = true, .num_nodes = 100, .weight_column = 2}));
}

}  // namespace pantile::fuzz
