#include <zlib.h>

#include "fuzz/fuzz_reader.h"

namespace pantile::fuzz {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> all = [] {
    const std::string text = "1 2\n3 4\r\n\n5 6";
    std::string packed(200, '\0');
    z_stream z = {};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(packed.data());
    z.avail_out = static_cast<uInt>(packed.size());
    deflate(&z, Z_FINISH);
    packed.resize(z.total_out);
    deflateEnd(&z);
    return std::vector<std::string>{text, packed, packed + packed};
  }();
  return all;
}

void read(const Input& input) {
  auto reader = LineReader::open(input, 1000);
  if (!reader) return;
  for (std::string_view line;;) {
    const auto more = reader->next(line);
    if (!more || !*more) return;
    require(line.size() <= 1000 && line.find('\n') == std::string_view::npos);
  }
}

}  // namespace pantile::fuzz
