#pragma once

#include <fmt/format.h>
#include <pantile/core/buffer.h>
#include <pantile/io/edge_list.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace pantile::io {

/// An array whose length is known only at the end of the input: pieces that are joined once. Unlike std::vector it
/// reports a lack of memory as a value, before the machine is out of it, and never copies while it grows.
template <class T>
class GrowingArray {
 public:
  int64_t size() const { return size_; }

  Status push(T value) {
    if (used_ == room_) PANTILE_CHECK(grow());
    current_[used_++] = value;
    ++size_;
    return {};
  }

  /// All elements in one array; the pieces are released on the way.
  Result<Array<T>> join() {
    PANTILE_TRY(auto all, Array<T>::allocate(size_));
    int64_t at = 0;
    for (Array<T>& piece : pieces_) {
      const int64_t n = std::min(piece.size(), size_ - at);
      if (n > 0) std::memcpy(all.data() + at, piece.data(), static_cast<size_t>(n) * sizeof(T));
      at += n;
      piece = Array<T>();
    }
    *this = GrowingArray();
    return all;
  }

 private:
  Status grow() {
    constexpr int64_t kSmallest = 1024, kLargest = int64_t{1} << 20;
    const int64_t room = std::clamp(size_, kSmallest, kLargest);
    if (room == kLargest) {  // the last step, join(), needs as much again as is here already
      const int64_t available = available_memory_bytes(), needed = (2 * size_ + room) * static_cast<int64_t>(sizeof(T));
      if (available >= 0 && available < needed) {
        return fail(ErrorCode::out_of_memory,
                    fmt::format("more than {} entries; {} bytes are needed to hold them and {} are available", size_,
                                needed, available));
      }
    }
    PANTILE_TRY(auto piece, Array<T>::allocate(room));
    pieces_.push_back(std::move(piece));
    current_ = pieces_.back().data();
    room_ = room;
    used_ = 0;
    return {};
  }

  std::vector<Array<T>> pieces_;
  T* current_ = nullptr;
  int64_t room_ = 0, used_ = 0, size_ = 0;
};

/// Collects the edges of a file in its order.
class EdgeCollector {
 public:
  int64_t edges() const { return src_.size(); }

  Status add(int64_t src, int64_t dst) {
    PANTILE_CHECK(src_.push(src));
    return dst_.push(dst);
  }
  Status add(int64_t src, int64_t dst, float weight) {
    PANTILE_CHECK(add(src, dst));
    return weights_.push(weight);
  }
  Result<EdgeList> finish(int64_t num_src, int64_t num_dst) {
    EdgeList list;
    PANTILE_TRY(list.src, src_.join());
    PANTILE_TRY(list.dst, dst_.join());
    PANTILE_TRY(list.weights, weights_.join());
    list.num_src = num_src;
    list.num_dst = num_dst;
    return list;
  }

 private:
  GrowingArray<int64_t> src_, dst_;
  GrowingArray<float> weights_;
};

}  // namespace pantile::io
