#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/byte_source.h"

namespace pantile {
namespace {

constexpr size_t kPending = size_t{1} << 20;

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Status write_all(int fd, const char* data, size_t bytes, const std::string& path) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = ::write(fd, data + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected(io::system_error("cannot write", path));
    done += static_cast<size_t>(n);
  }
  return {};
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  if (path.empty() || path.back() == '/') {
    return fail(ErrorCode::invalid_argument, fmt::format("cannot write '{}': the name of a file is needed", path));
  }
  if (folder_exists(path)) return fail(ErrorCode::io, fmt::format("cannot write '{}': it is a folder", path));
  // O_EXCL with a name of this process and a counter: two writers of the same path never share a temporary file.
  static std::atomic<uint64_t> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), counter.fetch_add(1));
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) return AtomicFile(fd, path, temporary);
    if (errno != EEXIST) return tl::unexpected(io::system_error("cannot write", path));
  }
  return fail(ErrorCode::io,
              fmt::format("cannot write '{}': its temporary names are taken; remove '{}.*.tmp'", path, path));
}

AtomicFile::AtomicFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      position_(other.position_),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      pending_(std::move(other.pending_)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(position_, other.position_);
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(pending_, other.pending_);
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  ::unlink(temporary_.c_str());
}

Status AtomicFile::flush() {
  PANTILE_CHECK(write_all(fd_, pending_.data(), pending_.size(), path_));
  pending_.clear();
  return {};
}

Status AtomicFile::write(const void* data, size_t bytes) {
  if (fd_ < 0) return fail(ErrorCode::internal, fmt::format("'{}' is written after it was closed", path_));
  position_ += static_cast<int64_t>(bytes);
  if (pending_.size() + bytes <= kPending) {
    pending_.append(static_cast<const char*>(data), bytes);
    return {};
  }
  PANTILE_CHECK(flush());
  if (bytes >= kPending) return write_all(fd_, static_cast<const char*>(data), bytes, path_);
  pending_.assign(static_cast<const char*>(data), bytes);
  return {};
}

Status AtomicFile::align(size_t alignment) {
  const size_t over = static_cast<size_t>(position_) % alignment;
  return over == 0 ? Status{} : write(std::string(alignment - over, '\0'));
}

Status AtomicFile::commit() {
  if (fd_ < 0) return fail(ErrorCode::internal, fmt::format("'{}' is committed after it was closed", path_));
  Status status = flush();
  if (status && ::fsync(fd_) != 0) status = tl::unexpected(io::system_error("cannot flush", path_));
  if (status && ::rename(temporary_.c_str(), path_.c_str()) != 0)
    status = tl::unexpected(io::system_error("cannot write", path_));
  if (!status) {
    discard();
    return status;
  }
  ::close(std::exchange(fd_, -1));
  // The rename itself lasts only once the folder is flushed. Some file systems cannot flush folders; the file is
  // complete then too.
  if (const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return {};
}

}  // namespace pantile
