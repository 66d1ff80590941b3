#include <pantile/nn/loss.h>

#include <pantile/core/thread_pool.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

namespace pantile::nn {
namespace {

constexpr int64_t kChunk = 512;  // nodes per partial sum

Status check_inputs(ConstMatrix logits, std::span<const int64_t> labels, std::span<const int64_t> mask) {
  if (logits.dtype != DType::f32 && logits.dtype != DType::f64) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("logits are {}; float32 or float64 is needed", name(logits.dtype)));
  }
  if (static_cast<int64_t>(labels.size()) != logits.rows) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} labels for {} rows of logits", labels.size(), logits.rows));
  }
  for (const int64_t node : mask) {
    if (node < 0 || node >= logits.rows) {
      return fail(ErrorCode::out_of_range, fmt::format("mask lists node {}, outside [0, {})", node, logits.rows));
    }
    const int64_t label = labels[static_cast<size_t>(node)];
    if (label < 0 || label >= logits.cols) {
      return fail(ErrorCode::out_of_range, fmt::format("node {} has label {}, outside [0, {}); drop it from the mask",
                                                       node, label, logits.cols));
    }
  }
  return {};
}

struct Partial {
  double loss = 0;
  int64_t correct = 0;
};

template <class T>
NodeScore scores_of(ConstMatrix logits, std::span<const int64_t> labels, std::span<const int64_t> mask,
                    Matrix* gradient) {
  const int64_t nodes = static_cast<int64_t>(mask.size()), classes = logits.cols;
  std::vector<Partial> partials(static_cast<size_t>((nodes + kChunk - 1) / kChunk));
  const double share = nodes == 0 ? 0 : 1.0 / static_cast<double>(nodes);
  parallel_for(nodes, kChunk, [&](int64_t begin, int64_t end) {
    Partial sum;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t node = mask[static_cast<size_t>(i)], label = labels[static_cast<size_t>(node)];
      const T* z = logits.as<T>() + node * logits.row_stride;
      const int64_t best = std::max_element(z, z + classes) - z;
      double total = 0;
      for (int64_t c = 0; c < classes; ++c) total += std::exp(static_cast<double>(z[c] - z[best]));
      sum.loss += std::log(total) - static_cast<double>(z[label] - z[best]);
      sum.correct += best == label;
      if (gradient == nullptr) continue;
      T* g = gradient->as<T>() + node * gradient->row_stride;
      for (int64_t c = 0; c < classes; ++c) {
        const double p = std::exp(static_cast<double>(z[c] - z[best])) / total;
        g[c] = static_cast<T>((p - (c == label ? 1.0 : 0.0)) * share);
      }
    }
    partials[static_cast<size_t>(begin / kChunk)] = sum;
  });
  Partial all;
  for (const Partial& p : partials) {
    all.loss += p.loss;
    all.correct += p.correct;
  }
  return {all.loss * share, static_cast<double>(all.correct) * share, nodes};
}

}  // namespace

Result<NodeScore> score(ConstMatrix logits, std::span<const int64_t> labels, std::span<const int64_t> mask) {
  PANTILE_CHECK(check_inputs(logits, labels, mask));
  return logits.dtype == DType::f64 ? scores_of<double>(logits, labels, mask, nullptr)
                                    : scores_of<float>(logits, labels, mask, nullptr);
}

Result<NodeScore> cross_entropy(ConstMatrix logits, std::span<const int64_t> labels, std::span<const int64_t> mask,
                                Matrix gradient) {
  PANTILE_CHECK(check_inputs(logits, labels, mask));
  if (gradient.rows != logits.rows || gradient.cols != logits.cols || gradient.dtype != logits.dtype) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("gradient is [{}, {}] {}, logits are [{}, {}] {}", gradient.rows, gradient.cols,
                            name(gradient.dtype), logits.rows, logits.cols, name(logits.dtype)));
  }
  const size_t bytes = static_cast<size_t>(gradient.cols) * size_of(gradient.dtype);
  parallel_for(gradient.rows, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::fill_n(gradient.as<char>() + i * gradient.row_stride * static_cast<int64_t>(size_of(gradient.dtype)), bytes,
                  '\0');
    }
  });
  return logits.dtype == DType::f64 ? scores_of<double>(logits, labels, mask, &gradient)
                                    : scores_of<float>(logits, labels, mask, &gradient);
}

}  // namespace pantile::nn
