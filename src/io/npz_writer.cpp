#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "io/fields.h"
#include "io/npy_stream.h"
#include "io/npz_archive.h"

namespace pantile::io {
namespace {

constexpr uint64_t kIn64 = 0xffffffff;

void put(std::string& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>((value >> (8 * i)) & 0xff);
}

uint32_t checksum(uint32_t crc, const void* data, size_t bytes) {
  const auto* p = static_cast<const Bytef*>(data);
  for (size_t n = 0; bytes > 0; p += n, bytes -= n) {
    n = std::min(bytes, size_t{1} << 30);
    crc = static_cast<uint32_t>(crc32(crc, p, static_cast<uInt>(n)));
  }
  return crc;
}

/// Both parts as one raw deflate stream.
Result<std::string> deflated(std::string_view header, const void* data, size_t bytes) {
  z_stream z = {};
  if (deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorCode::out_of_memory, "cannot start zlib");
  std::string out, block(size_t{1} << 18, '\0');
  const auto feed = [&](const char* from, size_t left, bool last) {
    do {
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from));
      z.avail_in = static_cast<uInt>(std::min(left, size_t{1} << 30));
      from += z.avail_in;
      left -= z.avail_in;
      do {
        z.next_out = reinterpret_cast<Bytef*>(block.data());
        z.avail_out = static_cast<uInt>(block.size());
        deflate(&z, last && left == 0 ? Z_FINISH : Z_NO_FLUSH);
        out.append(block.data(), block.size() - z.avail_out);
      } while (z.avail_out == 0);
    } while (left > 0);
  };
  feed(header.data(), header.size(), false);
  feed(static_cast<const char*>(data), bytes, true);
  deflateEnd(&z);
  return out;
}

}  // namespace

Result<NpzWriter> NpzWriter::create(const std::string& path, bool compress) {
  PANTILE_TRY(AtomicFile file, AtomicFile::create(path));
  return NpzWriter(std::move(file), compress);
}

Status NpzWriter::add(const std::string& name, const TensorView& tensor) {
  PANTILE_TRY(const std::string header, npy_header_bytes(tensor.dtype, tensor.shape));
  return add_entry(name, header, tensor.data, tensor.bytes());
}

Status NpzWriter::add_text(const std::string& name, const std::string& text) {
  PANTILE_TRY(std::string header, npy_header_bytes(DType::u8, {}));
  const std::string from = "'|u1'", to = fmt::format("'|S{}'", text.size());
  const size_t at = header.find(from), end = header.rfind(' ');
  header.replace(at, from.size(), to);
  header.erase(end - (to.size() - from.size()) + 1, to.size() - from.size());  // out of the padding: the length stays
  return add_entry(name, header, text.data(), text.size());
}

Status NpzWriter::add_entry(const std::string& name, std::string_view header, const void* data, size_t bytes) {
  if (name.empty() || name.size() > 1000)
    return fail(ErrorCode::invalid_argument, fmt::format("array name {}: 1 to 1000 bytes are allowed", quoted(name)));
  if (!names_.insert(name).second)
    return fail(ErrorCode::invalid_argument, fmt::format("array {} is written twice", quoted(name)));
  const std::string file_name = name + ".npy";
  const uint64_t unpacked = header.size() + bytes, offset = static_cast<uint64_t>(file_.position());
  const uint32_t crc = checksum(checksum(0, header.data(), header.size()), data, bytes);
  std::string packed;
  if (compress_) {
    PANTILE_TRY(packed, deflated(header, data, bytes));
  }
  const uint64_t stored = compress_ ? packed.size() : unpacked;
  const bool large = std::max({unpacked, stored, offset}) >= kIn64;

  std::string common;  // what local header and directory have in common, from "version needed" on
  put(common, large ? 45 : 20, 2);
  put(common, 0x0800, 2);  // names are UTF-8
  put(common, compress_ ? 8 : 0, 2);
  put(common, 0x00210000, 4);  // 1 January 1980: files depend on their content alone
  put(common, crc, 4);
  put(common, large ? kIn64 : stored, 4);
  put(common, large ? kIn64 : unpacked, 4);
  put(common, file_name.size(), 2);

  std::string local, extra;
  put(local, 0x04034b50, 4);
  local += common;
  if (large) {
    put(extra, 1, 2);
    put(extra, 16, 2);
    put(extra, unpacked, 8);
    put(extra, stored, 8);
  }
  put(local, extra.size(), 2);
  local += file_name + extra;
  PANTILE_CHECK(file_.write(local));
  if (compress_) {
    PANTILE_CHECK(file_.write(packed));
  } else {
    PANTILE_CHECK(file_.write(header));
    PANTILE_CHECK(file_.write(data, bytes));
  }

  put(directory_, 0x02014b50, 4);
  put(directory_, (3 << 8) | 45, 2);  // made by: Unix, specification 4.5
  directory_ += common;
  put(directory_, large ? 28 : 0, 2);
  put(directory_, 0, 6);  // no comment, first disk, no internal attributes
  put(directory_, 0644u << 16, 4);
  put(directory_, large ? kIn64 : offset, 4);
  directory_ += file_name;
  if (large) {
    put(directory_, 1, 2);
    put(directory_, 24, 2);
    put(directory_, unpacked, 8);
    put(directory_, stored, 8);
    put(directory_, offset, 8);
  }
  ++entries_;
  return {};
}

Status NpzWriter::commit() {
  const uint64_t offset = static_cast<uint64_t>(file_.position()), bytes = directory_.size(),
                 entries = static_cast<uint64_t>(entries_);
  PANTILE_CHECK(file_.write(directory_));
  std::string end;
  const bool large = entries >= 0xffff || offset >= kIn64 || bytes >= kIn64;
  if (large) {
    put(end, 0x06064b50, 4);
    put(end, 44, 8);
    put(end, (3 << 8) | 45, 2);
    put(end, 45, 2);
    put(end, 0, 8);
    put(end, entries, 8);
    put(end, entries, 8);
    put(end, bytes, 8);
    put(end, offset, 8);
    put(end, 0x07064b50, 4);
    put(end, 0, 4);
    put(end, offset + bytes, 8);
    put(end, 1, 4);
  }
  put(end, 0x06054b50, 4);
  put(end, 0, 4);
  for (int i = 0; i < 2; ++i) put(end, large ? 0xffff : entries, 2);
  put(end, large ? kIn64 : bytes, 4);
  put(end, large ? kIn64 : offset, 4);
  put(end, 0, 2);
  PANTILE_CHECK(file_.write(end));
  return file_.commit();
}

}  // namespace pantile::io
