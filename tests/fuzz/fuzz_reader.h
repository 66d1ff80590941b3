#pragma once

#include <pantile/io/file.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace pantile::fuzz {

/// Seeds of a target: small valid files, so that the fuzzer starts inside the format.
const std::vector<std::string>& seeds();
/// Runs the reader; must return for every input.
void read(const Input& input);

/// For properties that a successful read promises.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace pantile::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pantile::fuzz::read(pantile::Input::memory({reinterpret_cast<const char*>(data), size}, "fuzz"));
  return 0;
}

/// libFuzzer hands every new input through here: every so often a mutation starts again from a seed, which needs no
/// corpus folder.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned int random) {
  const auto& all = pantile::fuzz::seeds();
  if (size <= 1 || random % 64 == 0) {
    const std::string& seed = all[random / 64 % all.size()];
    if (seed.size() <= most) {
      for (size_t i = 0; i < seed.size(); ++i) data[i] = static_cast<uint8_t>(seed[i]);
      size = seed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
