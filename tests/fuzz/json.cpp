#include <pantile/io/json_file.h>

#include <nlohmann/json.hpp>

#include "fuzz/fuzz_reader.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = {R"({"a": [1, 2.5, "x\u00e9"], "b": {"c": null, "d": true}})", "[[[]]]",
                                               "1e5"};
  return all;
}

void read(const Input& input) {
  const auto value = read_json(input);
  require(value.has_value() || !value.error().message.empty());
}

}  // namespace pantile::fuzz
