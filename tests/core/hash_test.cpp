#include <gtest/gtest.h>
#include <pantile/core/hash.h>
#include <pantile/core/thread_pool.h>

#include <string>
#include <vector>

namespace pantile {
namespace {

std::vector<unsigned char> bytes_of_length(size_t n) {
  std::vector<unsigned char> bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
  return bytes;
}

TEST(Hash, IsTheSameForAnyNumberOfThreads) {
  const auto bytes = bytes_of_length((size_t{5} << 20) + 17);
  set_num_threads(1);
  const Hash128 one = hash_bytes(bytes.data(), bytes.size());
  for (const int threads : {2, 3, 8}) {
    set_num_threads(threads);
    EXPECT_EQ(hash_bytes(bytes.data(), bytes.size()), one);
  }
  set_num_threads(0);
}

TEST(Hash, ChangesWithEveryByteTheLengthAndTheSeed) {
  for (const size_t n : {size_t{1}, size_t{64}, (size_t{1} << 20) + 1}) {
    auto bytes = bytes_of_length(n);
    const Hash128 before = hash_bytes(bytes.data(), n);
    for (const size_t at : {size_t{0}, n / 2, n - 1}) {
      bytes[at] ^= 1;
      EXPECT_NE(hash_bytes(bytes.data(), n), before) << n << " " << at;
      bytes[at] ^= 1;
    }
    EXPECT_NE(hash_bytes(bytes.data(), n - 1), before);
    EXPECT_NE(hash_bytes(bytes.data(), n, {1, 0}), before);
    EXPECT_NE(hash_bytes(bytes.data(), n, {0, 1}), before);
  }
}

TEST(Hash, OfNothingIsFineAndHexHas32Digits) {
  const Hash128 h = hash_bytes(nullptr, 0);
  EXPECT_EQ(h, hash_bytes("x", 0));
  EXPECT_EQ(h.hex().size(), 32u);
  EXPECT_EQ((Hash128{0xab, 0x1}).hex(), "000000000000000100000000000000ab");
}

}  // namespace
}  // namespace pantile
