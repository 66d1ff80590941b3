#include <fmt/format.h>
#include <pantile/io/npy.h>

#include "io/npy_stream.h"
#include "io/npz_archive.h"

namespace pantile {

Result<Tensor> read_npy(const Input& input) {
  PANTILE_TRY(const io::ByteSource source, io::ByteSource::open(input));
  io::RangeStream stream(source, 0, source.size());
  PANTILE_TRY(const io::NpyHeader header, io::read_npy_header(stream, input.name));
  return io::read_npy_elements(stream, header, input.name);
}

Status write_npy(const std::string& path, const TensorView& tensor) {
  PANTILE_TRY(const std::string header, io::npy_header_bytes(tensor.dtype, tensor.shape));
  PANTILE_TRY(AtomicFile file, AtomicFile::create(path));
  PANTILE_CHECK(file.write(header));
  PANTILE_CHECK(file.write(tensor.data, tensor.bytes()));
  return file.commit();
}

Result<std::map<std::string, Tensor>> read_npz(const Input& input, std::vector<std::string>* left_out) {
  PANTILE_TRY(const io::NpzArchive archive, io::NpzArchive::open(input));
  std::map<std::string, Tensor> arrays;
  for (const std::string& array : archive.names()) {
    PANTILE_TRY(auto tensor, archive.read(array));
    if (tensor) {
      arrays.emplace(array, std::move(*tensor));
    } else if (left_out != nullptr) {
      left_out->push_back(array);
    }
  }
  return arrays;
}

Status write_npz(const std::string& path, const std::map<std::string, TensorView>& arrays, bool compress) {
  PANTILE_TRY(io::NpzWriter writer, io::NpzWriter::create(path, compress));
  for (const auto& [array, tensor] : arrays) PANTILE_CHECK(writer.add(array, tensor));
  return writer.commit();
}

}  // namespace pantile
