#include "io/text_writer.h"

#include <zlib.h>

#include <vector>

namespace pantile::io {

struct TextWriter::Deflater {
  z_stream stream = {};
  std::vector<unsigned char> packed = std::vector<unsigned char>(1 << 18);

  Deflater() = default;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream); }
};

TextWriter::TextWriter(AtomicFile file) : file_(std::move(file)) {}
TextWriter::TextWriter(TextWriter&&) noexcept = default;
TextWriter& TextWriter::operator=(TextWriter&&) noexcept = default;
TextWriter::~TextWriter() = default;

Result<TextWriter> TextWriter::create(const std::string& path) {
  PANTILE_TRY(AtomicFile file, AtomicFile::create(path));
  TextWriter writer(std::move(file));
  if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0) {
    writer.deflater_ = std::make_unique<Deflater>();
    if (deflateInit2(&writer.deflater_->stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      return fail(ErrorCode::out_of_memory, "cannot start zlib");
    }
  }
  return writer;
}

Status TextWriter::flush(bool last) {
  if (deflater_ == nullptr) {
    PANTILE_CHECK(file_.write(buffer_.data(), buffer_.size()));
    buffer_.clear();
    return {};
  }
  z_stream& z = deflater_->stream;
  z.next_in = reinterpret_cast<Bytef*>(buffer_.data());
  z.avail_in = static_cast<uInt>(buffer_.size());
  do {
    z.next_out = deflater_->packed.data();
    z.avail_out = static_cast<uInt>(deflater_->packed.size());
    if (deflate(&z, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
      return fail(ErrorCode::internal, "zlib refuses its own stream");
    PANTILE_CHECK(file_.write(deflater_->packed.data(), deflater_->packed.size() - z.avail_out));
  } while (z.avail_out == 0);
  buffer_.clear();
  return {};
}

Status TextWriter::commit() {
  PANTILE_CHECK(flush(true));
  return file_.commit();
}

}  // namespace pantile::io
