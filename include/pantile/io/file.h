#pragma once

#include <pantile/core/buffer.h>
#include <pantile/core/error.h>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pantile {

/// What a reader reads: a file by its path (std::string and string literals convert), or bytes that are already in
/// memory. Text readers unpack gzip by content, whatever the name says.
struct Input {
  Input(std::string path) : name(std::move(path)) {}
  Input(const char* path) : name(path) {}
  /// `bytes` are borrowed and must outlive the call; `name` stands in error messages.
  static Input memory(std::string_view bytes, std::string name = "memory") {
    Input input(std::move(name));
    input.bytes = bytes;
    input.in_memory = true;
    return input;
  }

  std::string name;
  std::string_view bytes;
  bool in_memory = false;
};

/// Size of a regular file. Errors: io, with the system's reason; a folder, pipe or device is refused.
Result<int64_t> file_size(const std::string& path);
bool file_exists(const std::string& path);
bool folder_exists(const std::string& path);

/// The whole file as it is. Errors: io; invalid_argument when it is larger than `limit` bytes (checked before reading).
Result<std::string> read_text(const Input& input, int64_t limit = int64_t{64} << 20);
/// Replaces `path` atomically.
Status write_text(const std::string& path, std::string_view text);

/// Lines of a text file, plain or gzip (several members too), in a stream of constant memory. Line ends: \n, \r\n; the
/// last line may lack one. Not thread-safe; move-only.
class LineReader {
 public:
  /// Lines longer than `longest` bytes are a corrupt-file error, so that a file without line ends cannot fill the
  /// memory.
  static Result<LineReader> open(const Input& input, int64_t longest = int64_t{1} << 20);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  /// The next line without its end, valid until the following call; false at the end of the file.
  /// Errors: io; corrupt for broken or truncated gzip data, with the line reached.
  Result<bool> next(std::string_view& line);
  int64_t line_number() const;  ///< of the line last given, from 1; 0 before the first
  const std::string& name() const;
  /// Most bytes of text that the file can hold: its size, or 1032 times it when it is gzip (deflate's own limit).
  int64_t most_text_bytes() const;
  /// An error about the line last given: "FILE:LINE: message".
  Error error(const std::string& message, ErrorCode code = ErrorCode::corrupt) const;

 private:
  struct State;
  explicit LineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Writes a file under a temporary name in the same folder; commit() flushes it to the disk (fsync of file and folder)
/// and renames it over `path`. Without commit nothing of it remains and the old file is untouched. Buffered. Move-only.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  Status write(const void* data, size_t bytes);
  Status write(std::string_view text) { return write(text.data(), text.size()); }
  /// Pads with zero bytes to a multiple of `alignment`.
  Status align(size_t alignment);
  int64_t position() const { return position_; }  ///< bytes written so far
  Status commit();

 private:
  AtomicFile(int fd, std::string path, std::string temporary);
  Status flush();
  void discard() noexcept;

  int fd_ = -1;
  int64_t position_ = 0;
  std::string path_, temporary_, pending_;
};

/// A read-only memory map of a whole file. Move-only; an empty file has a null data(). The file must not shrink while
/// mapped.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pantile
