#include "io/npz_archive.h"

#include <fmt/format.h>

#include "io/fields.h"
#include "io/npy_stream.h"

namespace pantile::io {

Result<NpzArchive> NpzArchive::open(const Input& input) {
  PANTILE_TRY(ByteSource source, ByteSource::open(input));
  NpzArchive archive(std::move(source));
  PANTILE_TRY(std::vector<ZipEntry> entries, read_zip_directory(archive.source_));
  for (ZipEntry& e : entries) {
    std::string key = e.name;
    if (key.size() <= 4 || key.compare(key.size() - 4, 4, ".npy") != 0) {
      return fail(ErrorCode::corrupt, fmt::format("{}: entry {} is not an .npy array; this is not an npz file",
                                                  archive.name(), quoted(key)));
    }
    key.resize(key.size() - 4);
    archive.entries_.emplace(std::move(key), std::move(e));
  }
  return archive;
}

std::vector<std::string> NpzArchive::names() const {
  std::vector<std::string> all;
  for (const auto& [key, entry] : entries_) all.push_back(key);
  return all;
}

std::string NpzArchive::where(const std::string& array) const {
  return fmt::format("{}: array {}", name(), quoted(array));
}

Result<const ZipEntry*> NpzArchive::find(const std::string& array) const {
  const auto it = entries_.find(array);
  if (it != entries_.end()) return &it->second;
  std::string there;
  for (const auto& [key, entry] : entries_) there += (there.empty() ? "" : ", ") + key;
  return fail(ErrorCode::corrupt,
              fmt::format("{}: array {} is missing; the file holds: {}", name(), quoted(array), there.substr(0, 300)));
}

Result<std::optional<Tensor>> NpzArchive::read(const std::string& array) const {
  PANTILE_TRY(const ZipEntry* const entry, find(array));
  PANTILE_TRY(const auto stream, open_zip_entry(source_, *entry));
  PANTILE_TRY(const NpyHeader header, read_npy_header(*stream, where(array)));
  if (!header.dtype) return std::optional<Tensor>();
  PANTILE_TRY(Tensor tensor, read_npy_elements(*stream, header, where(array)));
  return std::optional<Tensor>(std::move(tensor));
}

Result<std::string> NpzArchive::read_text(const std::string& array) const {
  PANTILE_TRY(const ZipEntry* const entry, find(array));
  PANTILE_TRY(const auto stream, open_zip_entry(source_, *entry));
  PANTILE_TRY(const NpyHeader header, read_npy_header(*stream, where(array)));
  return read_npy_text(*stream, header, where(array));
}

}  // namespace pantile::io
