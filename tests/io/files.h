#pragma once

#include <gtest/gtest.h>
#include <pantile/core/error.h>
#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

namespace pantile::test {

/// The text as gzip data.
inline std::string gzipped(std::string_view text) {
  z_stream z = {};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, static_cast<uLong>(text.size())) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// True when `result` is an error whose message holds all `parts`.
template <class R>
testing::AssertionResult fails_with(const R& result, ErrorCode code, const std::vector<std::string>& parts) {
  if (result) return testing::AssertionFailure() << "it succeeded";
  const Error& e = result.error();
  if (e.code != code) return testing::AssertionFailure() << name(e.code) << ": " << e.message;
  for (const std::string& part : parts) {
    if (e.message.find(part) == std::string::npos)
      return testing::AssertionFailure() << "no \"" << part << "\" in: " << e.message;
  }
  return testing::AssertionSuccess();
}

/// Little-endian bytes of a number.
inline std::string le(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}

template <class T>
std::vector<T> to_vector(const T* data, int64_t n) {
  return n == 0 ? std::vector<T>() : std::vector<T>(data, data + n);
}

}  // namespace pantile::test
