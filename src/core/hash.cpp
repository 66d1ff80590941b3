#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <pantile/core/hash.h>
#include <pantile/core/thread_pool.h>
#include <algorithm>
#include <vector>

namespace pantile {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 hash_bytes(const void* data, size_t bytes, Hash128 seed) {
  constexpr int64_t kPiece = int64_t{1} << 20;
  const int64_t n = static_cast<int64_t>(bytes), pieces = (n + kPiece - 1) / kPiece;
  std::vector<Hash128> digests(static_cast<size_t>(pieces) + 1);
  digests[0] = {seed.low ^ static_cast<uint64_t>(n), seed.high};
  parallel_for(pieces, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const XXH128_hash_t h = XXH3_128bits(static_cast<const char*>(data) + i * kPiece,
                                           static_cast<size_t>(std::min(kPiece, n - i * kPiece)));
      digests[static_cast<size_t>(i) + 1] = {h.low64, h.high64};
    }
  });
  const XXH128_hash_t h = XXH3_128bits(digests.data(), digests.size() * sizeof(Hash128));
  return {h.low64, h.high64};
}

}  // namespace pantile
