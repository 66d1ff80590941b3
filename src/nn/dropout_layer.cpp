#include <pantile/core/random.h>
#include <pantile/core/thread_pool.h>
#include <pantile/nn/layers.h>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

namespace pantile::nn {
namespace {

constexpr int64_t kPerBlock = 8;      // elements per Philox block: 16 random bits each
constexpr int64_t kGrain = 8 * 1024;  // a multiple of kPerBlock, so that chunks share no block

template <class T>
class DropoutLayer final : public Layer<T> {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;  // as wide as an element

 public:
  DropoutLayer(double probability, uint64_t stream)
      : threshold_(static_cast<uint32_t>(std::lround(probability * 65536))), stream_(stream) {}

  Result<Features<T>> forward(const Features<T>& x, const Pass& pass) override {
    active_ = pass.training && threshold_ > 0;
    if (!active_) return x;
    seed_ = pass.seed;
    Features<T> y = x;
    y.constant = false;
    if (x.is_sparse()) {
      const int64_t stored = x.pattern->graph().edges();
      PANTILE_CHECK(y_.resize(1, stored));
      mask(x.values, stored, y_.data());
      y.values = y_.data();
      return y;
    }
    if (x.rows > 1 && x.dense.row_stride != x.width) {
      PANTILE_CHECK(densify(x, y_));
      mask(y_.data(), y_.size(), y_.data());
    } else {
      PANTILE_CHECK(y_.resize(x.rows, x.width));
      mask(x.dense.template as<T>(), y_.size(), y_.data());
    }
    y.dense = std::as_const(y_).view();
    return y;
  }

  Result<ConstMatrix> backward(ConstMatrix dy, bool input_gradient) override {
    if (!input_gradient) return ConstMatrix{};
    if (!active_) return dy;
    PANTILE_CHECK(dx_.resize(dy.rows, dy.cols));
    mask(dy.as<T>(), dx_.size(), dx_.data());  // layers return gradients without gaps
    return std::as_const(dx_).view();
  }

  std::string describe() const override { return fmt::format("Dropout({:.3g})", threshold_ / 65536.0); }

 private:
  void mask(const T* in, int64_t size, T* out) const {
    const T scale = static_cast<T>(65536.0 / (65536.0 - threshold_));
    parallel_for(size, kGrain, [&](int64_t begin, int64_t end) {
      int64_t k = begin;
      for (; k + kPerBlock <= end; k += kPerBlock) mask_block(in + k, kPerBlock, k, scale, out + k);
      if (k < end) mask_block(in + k, end - k, k, scale, out + k);
    });
  }

  // Inlined with n constant but for the tail, so that the eight elements are one or two vector operations.
  void mask_block(const T* in, int64_t n, int64_t first, T scale, T* out) const {
    const auto words = philox4x32(seed_, stream_, static_cast<uint64_t>(first / kPerBlock));
    Bits bits[kPerBlock];
    for (int64_t w = 0; w < kPerBlock / 2; ++w) {
      bits[2 * w] = words[static_cast<size_t>(w)] & 0xffffu;
      bits[2 * w + 1] = words[static_cast<size_t>(w)] >> 16;
    }
    for (int64_t i = 0; i < n; ++i) {
      // A branch here would be mispredicted every other time.
      const Bits kept = Bits{0} - static_cast<Bits>(bits[i] >= threshold_);
      out[i] = std::bit_cast<T>(std::bit_cast<Bits>(in[i] * scale) & kept);
    }
  }

  uint32_t threshold_;  // of 65536
  uint64_t stream_, seed_ = 0;
  bool active_ = false;
  DenseMatrix<T> y_, dx_;
};

}  // namespace

template <class T>
Result<LayerPtr<T>> make_dropout(double probability, uint64_t stream) {
  if (!(probability >= 0 && probability < 1)) {
    return fail(ErrorCode::invalid_argument, fmt::format("dropout {} is outside [0, 1)", probability));
  }
  return std::make_unique<DropoutLayer<T>>(std::min(probability, 65535.0 / 65536.0), stream);
}

template Result<LayerPtr<float>> make_dropout(double, uint64_t);
template Result<LayerPtr<double>> make_dropout(double, uint64_t);

}  // namespace pantile::nn
