#pragma once

#include <pantile/io/tensor.h>
#include <map>
#include <set>
#include <string>

#include "io/zip_reader.h"

namespace pantile::io {

/// An opened .npz: arrays are read one by one, so that a reader that needs three of ten touches three.
class NpzArchive {
 public:
  static Result<NpzArchive> open(const Input& input);

  const std::string& name() const { return source_.name(); }
  std::vector<std::string> names() const;  ///< without ".npy", sorted
  bool has(const std::string& name) const { return entries_.count(name) != 0; }
  /// Nothing when the array holds text. Errors name file and array; corrupt when there is no such array.
  Result<std::optional<Tensor>> read(const std::string& name) const;
  /// A scalar of text.
  Result<std::string> read_text(const std::string& name) const;

 private:
  explicit NpzArchive(ByteSource source) : source_(std::move(source)) {}
  Result<const ZipEntry*> find(const std::string& name) const;
  std::string where(const std::string& name) const;

  ByteSource source_;
  std::map<std::string, ZipEntry> entries_;
};

/// Writes .npy entries into an .npz one after another. Atomic.
class NpzWriter {
 public:
  static Result<NpzWriter> create(const std::string& path, bool compress);
  Status add(const std::string& name, const TensorView& tensor);
  /// A scalar of bytes (dtype S), as scipy keeps a format's name.
  Status add_text(const std::string& name, const std::string& text);
  Status commit();

 private:
  NpzWriter(AtomicFile file, bool compress) : file_(std::move(file)), compress_(compress) {}
  Status add_entry(const std::string& name, std::string_view header, const void* data, size_t bytes);

  AtomicFile file_;
  bool compress_;
  std::set<std::string> names_;
  std::string directory_;
  int64_t entries_ = 0;
};

}  // namespace pantile::io
