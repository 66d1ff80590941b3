#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pantile/core/buffer.h>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <string>

namespace pantile {
namespace {

constexpr size_t kLine = 64, kHugePage = size_t{2} << 20, kHugeFrom = size_t{4} << 20;

int64_t read_number(const char* path) {
  std::ifstream in(path);
  std::string word;
  if (!(in >> word) || word.empty() || word.find_first_not_of("0123456789") != std::string::npos || word.size() > 18)
    return -1;
  return std::stoll(word);
}

}  // namespace

Buffer::~Buffer() { std::free(data_); }

Result<Buffer> Buffer::allocate(size_t bytes) {
  Buffer b;
  if (bytes == 0) return b;
  const size_t alignment = bytes >= kHugeFrom ? kHugePage : kLine;
  if (bytes <= std::numeric_limits<size_t>::max() - alignment) {
    // Refuse early what the machine cannot back: with overcommit the allocation would succeed and the process be killed
    // later.
    const int64_t available = bytes >= (size_t{1} << 28) ? available_memory_bytes() : -1;
    if (available < 0 || bytes <= static_cast<size_t>(available)) {
      b.data_ = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    }
  }
  if (b.data_ == nullptr) {
    return fail(ErrorCode::out_of_memory,
                fmt::format("cannot allocate {} bytes; {} bytes are available", bytes, available_memory_bytes()),
                {{"bytes", std::to_string(bytes)}});
  }
  b.bytes_ = bytes;
  if (bytes >= kHugeFrom) advise_huge_pages(b.data_, bytes);
  return b;
}

void advise_huge_pages(void* data, size_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), begin = reinterpret_cast<uintptr_t>(data),
                  first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

Result<Buffer> Buffer::allocate_elements(int64_t count, size_t element_bytes) {
  if (count < 0)
    return fail(ErrorCode::invalid_argument, fmt::format("cannot allocate {} elements; the count must be >= 0", count));
  PANTILE_TRY(const int64_t bytes, checked_multiply(count, static_cast<int64_t>(element_bytes)));
  return allocate(static_cast<size_t>(bytes));
}

Result<int64_t> checked_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    return fail(ErrorCode::out_of_memory, fmt::format("{} x {} exceeds 2^63 - 1", a, b));
  return product;
}

Result<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    return fail(ErrorCode::out_of_memory, fmt::format("{} + {} exceeds 2^63 - 1", a, b));
  return sum;
}

int64_t available_memory_bytes() {
  int64_t available = -1;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key, unit; meminfo >> key;) {
    int64_t kib = 0;
    if (key == "MemAvailable:" && (meminfo >> kib)) {
      available = kib * 1024;
      break;
    }
    std::getline(meminfo, unit);
  }
  const int64_t limit = read_number("/sys/fs/cgroup/memory.max"), used = read_number("/sys/fs/cgroup/memory.current");
  if (limit >= 0 && used >= 0 && (available < 0 || limit - used < available))
    available = limit > used ? limit - used : 0;
  return available;
}

}  // namespace pantile
