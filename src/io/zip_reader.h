#pragma once

#include <memory>
#include <vector>

#include "io/byte_source.h"

namespace pantile::io {

/// One file inside a zip archive, as its central directory describes it.
struct ZipEntry {
  std::string name;
  int64_t header_offset = 0, data_offset = 0;
  int64_t packed = 0, unpacked = 0;  ///< bytes
  uint32_t crc = 0;
  bool deflated = false;
};

/// The directory of a zip archive (zip64 too), fully checked: every entry lies inside the file, no two share bytes,
/// local headers agree, none is encrypted or inflates beyond deflate's own limit. Errors: corrupt or unsupported,
/// naming the entry.
Result<std::vector<ZipEntry>> read_zip_directory(const ByteSource& source);

/// The unpacked bytes of an entry. The checksum is verified by the read that reaches the end.
Result<std::unique_ptr<ByteStream>> open_zip_entry(const ByteSource& source, const ZipEntry& entry);

}  // namespace pantile::io
