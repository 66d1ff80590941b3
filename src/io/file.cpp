#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "io/byte_source.h"

namespace pantile {

Result<int64_t> file_size(const std::string& path) {
  PANTILE_TRY(const io::ByteSource source, io::ByteSource::open(path));
  return source.size();
}

bool file_exists(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool folder_exists(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::string> read_text(const Input& input, int64_t limit) {
  PANTILE_TRY(const io::ByteSource source, io::ByteSource::open(input));
  if (source.size() > limit) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: {} bytes are more than the {} that are allowed here",
                                                         input.name, source.size(), limit));
  }
  std::string text(static_cast<size_t>(source.size()), '\0');
  PANTILE_CHECK(source.read_at(0, text.data(), source.size()));
  return text;
}

Status write_text(const std::string& path, std::string_view text) {
  PANTILE_TRY(AtomicFile file, AtomicFile::create(path));
  PANTILE_CHECK(file.write(text));
  return file.commit();
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status = {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    Error error = io::system_error("cannot open", path);
    if (fd >= 0) ::close(fd);
    return tl::unexpected(std::move(error));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(fd);
    return fail(ErrorCode::io, fmt::format("cannot map '{}': it is not a regular file", path));
  }
  const size_t size = static_cast<size_t>(status.st_size);
  void* const data = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  Error error = data == MAP_FAILED ? io::system_error("cannot map", path) : Error{};
  ::close(fd);
  if (data == MAP_FAILED) return tl::unexpected(std::move(error));
  return MappedFile(static_cast<const std::byte*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace pantile
