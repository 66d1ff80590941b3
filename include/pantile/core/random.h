#pragma once

#include <array>
#include <cstdint>

namespace pantile {

/// Philox4x32-10 (Salmon et al., SC'11): four random words from a key and a counter, with no state. The same (seed,
/// counter) gives the same words on every machine and for any number of threads, which is what dropout masks and
/// generators need.
std::array<uint32_t, 4> philox4x32(uint64_t seed, uint64_t counter_high, uint64_t counter_low);

/// A stream of numbers over philox4x32. Copyable; not thread-safe; give each thread or chunk a stream of its own.
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  uint32_t next_u32();
  uint64_t next_u64() { return (uint64_t{next_u32()} << 32) | next_u32(); }
  /// Uniform in [0, bound), bound >= 1, without bias.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1): 24 bits, exactly representable; 53 bits for uniform_double.
  float uniform() { return static_cast<float>(next_u32() >> 8) * 0x1p-24f; }
  double uniform_double() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }
  /// Standard normal (Box-Muller).
  double normal();

 private:
  uint64_t seed_, stream_, position_ = 0;
  std::array<uint32_t, 4> block_{};
};

}  // namespace pantile
