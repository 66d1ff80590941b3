#include <pantile/io/ogb.h>

#include "fuzz/fuzz_reader.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {"1,2.5,3\n4,,6\n", "nan\n-1e-3\n", "1\n2\n"};
  return all;
}

void read(const Input& input) {
  const auto table = read_number_table(input, {.allow_nan = true});
  if (table) require(table->size() == table->shape[0] * table->shape[1]);
  const auto narrow = read_number_table(input, {.rows = 2, .cols = 1});
  require(!narrow || narrow->size() == 2);
}

}  // namespace pantile::fuzz
