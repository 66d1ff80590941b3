#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pantile {

/// 128-bit XXH3 digest: not cryptographic, for fingerprints and caches.
struct Hash128 {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  std::string hex() const;  ///< 32 lower-case digits, high word first
};

/// Hash of a byte range: XXH3-128 over the digests of fixed 1 MiB pieces, computed in parallel; the same for any thread
/// count.
Hash128 hash_bytes(const void* data, size_t bytes, Hash128 seed = {});

}  // namespace pantile
