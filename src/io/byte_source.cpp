#include "io/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pantile::io {

Error system_error(const std::string& what, const std::string& path) {
  const int number = errno;
  return {ErrorCode::io,
          fmt::format("{} '{}': {}", what, path, std::strerror(number)),
          {{"path", path}, {"errno", std::to_string(number)}}};
}

Result<ByteSource> ByteSource::open(const Input& input) {
  ByteSource source;
  source.name_ = input.name;
  if (input.in_memory) {
    source.memory_ = input.bytes.data();
    source.size_ = static_cast<int64_t>(input.bytes.size());
    return source;
  }
  // O_NONBLOCK: opening a pipe without a writer would wait for ever before its kind could be looked at.
  source.fd_ = ::open(input.name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (source.fd_ < 0 || ::fstat(source.fd_, &status) != 0)
    return tl::unexpected(system_error("cannot open", input.name));
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::io, fmt::format("cannot read '{}': it is {}, and a regular file is needed", input.name,
                                           S_ISDIR(status.st_mode) ? "a folder" : "a pipe or device"));
  }
  source.size_ = status.st_size;
  return source;
}

ByteSource::ByteSource(ByteSource&& other) noexcept
    : name_(std::move(other.name_)), fd_(std::exchange(other.fd_, -1)), memory_(other.memory_), size_(other.size_) {}

ByteSource& ByteSource::operator=(ByteSource&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(fd_, other.fd_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  return *this;
}

ByteSource::~ByteSource() {
  if (fd_ >= 0) ::close(fd_);
}

Status ByteSource::read_at(int64_t offset, void* to, int64_t bytes) const {
  if (offset < 0 || bytes < 0 || offset > size_ || bytes > size_ - offset) {
    return fail(ErrorCode::corrupt, fmt::format("{}: {} bytes are needed at offset {}, but the file has {} bytes",
                                                name_, bytes, offset, size_));
  }
  if (fd_ < 0) {
    if (bytes > 0) std::memcpy(to, memory_ + offset, static_cast<size_t>(bytes));
    return {};
  }
  for (int64_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(fd_, static_cast<char*>(to) + done,
                              static_cast<size_t>(std::min(bytes - done, int64_t{1} << 30)), offset + done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(system_error("cannot read", name_));
    if (n == 0) return fail(ErrorCode::io, fmt::format("{}: the file became shorter while it was read", name_));
    done += n;
  }
  return {};
}

Status RangeStream::read(void* to, int64_t bytes) {
  if (bytes > remaining()) {
    return fail(ErrorCode::corrupt, fmt::format("{}: {} bytes are needed at offset {}, but {} are left", source_.name(),
                                                bytes, at_, remaining()));
  }
  PANTILE_CHECK(source_.read_at(at_, to, bytes));
  at_ += bytes;
  return {};
}

}  // namespace pantile::io
