#pragma once

#include <pantile/io/tensor.h>
#include <optional>

#include "io/byte_source.h"

namespace pantile::io {

/// What an .npy header says.
struct NpyHeader {
  std::optional<DType> dtype;  ///< nothing when the array holds text
  bool swapped = false;        ///< big-endian
  bool fortran_order = false;
  std::vector<int64_t> shape;
  int64_t text_bytes = 0;  ///< bytes of one text element (dtype S or U)
  bool wide_text = false;  ///< U: four bytes a character
};

/// Reads magic and header. `where` stands in errors. Errors: corrupt; unsupported for objects, complex and structured
/// types.
Result<NpyHeader> read_npy_header(ByteStream& stream, const std::string& where);

/// Reads the elements that follow, which must be all that is left of the stream.
Result<Tensor> read_npy_elements(ByteStream& stream, const NpyHeader& header, const std::string& where);

/// A scalar of text, as scipy keeps a format's name; at most 1 KiB.
Result<std::string> read_npy_text(ByteStream& stream, const NpyHeader& header, const std::string& where);

/// Magic and header, padded so that the elements start on a multiple of 64 bytes. Errors: unsupported for bf16.
Result<std::string> npy_header_bytes(DType dtype, const std::vector<int64_t>& shape);

}  // namespace pantile::io
