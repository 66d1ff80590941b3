#include <pantile/core/random.h>
#include <cmath>
#include <numbers>

namespace pantile {

std::array<uint32_t, 4> philox4x32(uint64_t seed, uint64_t counter_high, uint64_t counter_low) {
  constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u, kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
                               static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier0} * c[0], p1 = uint64_t{kMultiplier1} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

uint32_t Random::next_u32() {
  const uint64_t lane = position_ % 4;
  if (lane == 0) block_ = philox4x32(seed_, stream_, position_ / 4);
  ++position_;
  return block_[lane];
}

uint64_t Random::below(uint64_t bound) {
  // Lemire's multiply with rejection: the low product below 2^64 mod bound would favour some values.
  const uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const unsigned __int128 product = static_cast<unsigned __int128>(next_u64()) * bound;
    if (static_cast<uint64_t>(product) >= threshold) return static_cast<uint64_t>(product >> 64);
  }
}

double Random::normal() {
  const double u = 1.0 - uniform_double(), v = uniform_double();  // u in (0, 1]: its logarithm is finite
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace pantile
