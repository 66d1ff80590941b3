#include <pantile/core/random.h>
#include <pantile/nn/dataset.h>

#include <fmt/format.h>
#include <algorithm>

namespace pantile::nn {

NodeSplit random_split(std::span<const int64_t> labels, int64_t classes, const RandomSplit& options) {
  std::vector<int64_t> order, size_of_class(static_cast<size_t>(classes), 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    order.push_back(static_cast<int64_t>(i));
    ++size_of_class[static_cast<size_t>(labels[i])];
  }
  Random random(options.seed, 0x53706c6974);  // a stream of its own, apart from weights and masks
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);

  NodeSplit split;
  std::vector<int64_t> rest, taken(static_cast<size_t>(classes), 0);
  for (const int64_t node : order) {
    const size_t label = static_cast<size_t>(labels[static_cast<size_t>(node)]);
    // At least one node of every class trains, at most half of it does.
    const int64_t most = std::min(options.train_per_class, std::max<int64_t>(1, size_of_class[label] / 2));
    if (taken[label] < most) {
      ++taken[label];
      split.train.push_back(node);
    } else {
      rest.push_back(node);
    }
  }
  const int64_t left = static_cast<int64_t>(rest.size());
  int64_t validation = options.validation, test = options.test;
  if (validation + test > left) {
    validation = std::min(validation, left / 3);
    test = std::min(test, left - validation);
  }
  split.validation.assign(rest.begin(), rest.begin() + validation);
  split.test.assign(rest.begin() + validation, rest.begin() + validation + test);
  for (auto* part : {&split.train, &split.validation, &split.test}) std::sort(part->begin(), part->end());
  split.origin = fmt::format("random by seed {}: {} train (up to {} per class), {} validation, {} test", options.seed,
                             split.train.size(), options.train_per_class, split.validation.size(), split.test.size());
  return split;
}

}  // namespace pantile::nn
