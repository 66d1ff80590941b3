#pragma once

#include <pantile/io/file.h>

namespace pantile::io {

/// Random access to the bytes of an Input: a regular file or memory. Move-only.
class ByteSource {
 public:
  /// Errors: io, naming file and reason; folders, pipes and devices are refused, so that opening never waits.
  static Result<ByteSource> open(const Input& input);
  ByteSource(ByteSource&& other) noexcept;
  ByteSource& operator=(ByteSource&& other) noexcept;
  ~ByteSource();

  int64_t size() const { return size_; }
  const std::string& name() const { return name_; }
  /// Exactly `bytes` bytes from `offset`. Errors: corrupt beyond the end; io.
  Status read_at(int64_t offset, void* to, int64_t bytes) const;

 private:
  ByteSource() = default;
  std::string name_;
  int fd_ = -1;
  const char* memory_ = nullptr;
  int64_t size_ = 0;
};

/// Bytes that are read one after another; `remaining` says how many more there are at most.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Exactly `bytes` bytes. Errors: corrupt when fewer are left.
  virtual Status read(void* to, int64_t bytes) = 0;
  virtual int64_t remaining() const = 0;
};

/// A range of a ByteSource as a stream.
class RangeStream final : public ByteStream {
 public:
  RangeStream(const ByteSource& source, int64_t begin, int64_t end) : source_(source), at_(begin), end_(end) {}
  Status read(void* to, int64_t bytes) override;
  int64_t remaining() const override { return end_ - at_; }

 private:
  const ByteSource& source_;
  int64_t at_, end_;
};

/// Unsigned little-endian number of `bytes` bytes at `from`.
inline uint64_t little_endian(const unsigned char* from, int bytes) {
  uint64_t v = 0;
  for (int i = bytes - 1; i >= 0; --i) v = (v << 8) | from[i];
  return v;
}

/// "cannot open 'x': No such file or directory" of the current errno.
Error system_error(const std::string& what, const std::string& path);

}  // namespace pantile::io
