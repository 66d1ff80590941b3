#pragma once

#include <pantile/core/error.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace pantile {

/// Owned, uninitialised memory that starts on a 64-byte line; from 4 MiB on it starts on a 2 MiB page and asks for huge
/// pages (a fresh output's page faults otherwise cost up to as much as the work that fills it). Invariants: data() is
/// null exactly when bytes() == 0. Move-only.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  /// Errors: out_of_memory, with the number of bytes asked for and the bytes available.
  static Result<Buffer> allocate(size_t bytes);
  /// `count` elements of `element_bytes` each; the product is checked.
  static Result<Buffer> allocate_elements(int64_t count, size_t element_bytes);

  void* data() { return data_; }
  const void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  template <class T>
  T* as() {
    return static_cast<T*>(data_);
  }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Asks for huge pages for memory that someone else allocated and nobody has touched yet; whole pages inside it only.
void advise_huge_pages(void* data, size_t bytes);

/// A Buffer seen as elements of T, with the size kept: what std::vector would be without zeroing.
template <class T>
class Array {
 public:
  Array() = default;
  static Result<Array> allocate(int64_t count) {
    auto buffer = Buffer::allocate_elements(count, sizeof(T));
    if (!buffer) return tl::unexpected<Error>(std::move(buffer.error()));
    Array a;
    a.buffer_ = std::move(*buffer);
    a.size_ = count;
    return a;
  }
  T* data() { return buffer_.template as<T>(); }
  const T* data() const { return buffer_.template as<T>(); }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::span<T> span() { return {data(), static_cast<size_t>(size_)}; }
  std::span<const T> span() const { return {data(), static_cast<size_t>(size_)}; }

 private:
  Buffer buffer_;
  int64_t size_ = 0;
};

/// a * b and a + b of non-negative sizes, or an out_of_memory error that names both.
Result<int64_t> checked_multiply(int64_t a, int64_t b);
Result<int64_t> checked_add(int64_t a, int64_t b);

/// Bytes that this process can still use (the smaller of MemAvailable and the cgroup's rest); -1 when unknown.
int64_t available_memory_bytes();

}  // namespace pantile
