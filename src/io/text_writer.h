#pragma once

#include <fmt/format.h>
#include <pantile/io/file.h>

#include <memory>

namespace pantile::io {

/// Text into an AtomicFile, through gzip when the name ends in ".gz". Move-only.
class TextWriter {
 public:
  static Result<TextWriter> create(const std::string& path);
  TextWriter(TextWriter&&) noexcept;
  TextWriter& operator=(TextWriter&&) noexcept;
  ~TextWriter();

  /// Formats into the buffer; flush_if_full() between lines keeps it small and reports errors.
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
  }
  Status flush_if_full() { return buffer_.size() < (size_t{1} << 18) ? Status{} : flush(false); }
  Status commit();

 private:
  struct Deflater;
  explicit TextWriter(AtomicFile file);
  Status flush(bool last);

  AtomicFile file_;
  fmt::memory_buffer buffer_;
  std::unique_ptr<Deflater> deflater_;  // null: plain text
};

}  // namespace pantile::io
