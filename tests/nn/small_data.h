#pragma once

#include <gtest/gtest.h>

#include <pantile/nn/dataset.h>
#include <pantile/nn/layers.h>
#include <functional>
#include <string>
#include <vector>

#include "support/graphs.h"

namespace pantile::nn::test {

using pantile::test::graph_of;
using pantile::test::random_graph;

/// The value, or a failed test that shows the error.
template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(*result);
}

template <class T>
DenseMatrix<T> random_matrix(int64_t rows, int64_t cols, uint64_t seed) {
  auto m = must(DenseMatrix<T>::zeros(rows, cols));
  Random random(seed);
  for (T& v : m.span()) v = static_cast<T>(2 * random.uniform_double() - 1);
  return m;
}

/// Compressed rows with values owned beside them.
template <class T>
struct SparseRows {
  Graph pattern;
  std::vector<T> values;
  Features<T> view(bool constant = false) const {
    Features<T> x;
    x.rows = pattern.rows();
    x.width = pattern.cols();
    x.pattern = sparse::Plan::of(pattern);
    x.values = values.data();
    x.constant = constant;
    return x;
  }
};
template <class T>
SparseRows<T> random_rows(int64_t rows, int64_t cols, int64_t stored, uint64_t seed) {
  SparseRows<T> x{random_graph(rows, cols, stored, seed), {}};
  Random random(seed + 1);
  for (int64_t k = 0; k < x.pattern.edges(); ++k) x.values.push_back(static_cast<T>(2 * random.uniform_double() - 1));
  return x;
}

/// Duplicates, self-loops and isolated nodes, directed.
inline Graph messy_graph() { return random_graph(23, 23, 60, 5); }

/// Communities whose features and edges both tell the class, so that every model can learn them.
inline Dataset toy_dataset(int64_t nodes, int64_t classes, int64_t width, uint64_t seed) {
  Random random(seed);
  std::vector<int64_t> src, dst;
  Dataset data;
  data.name = "toy";
  data.classes = classes;
  data.features.rows = nodes;
  data.features.width = width;
  data.features.dense = random_matrix<float>(nodes, width, seed + 1);
  for (int64_t i = 0; i < nodes; ++i) {
    data.labels.push_back(i % classes);
    data.features.dense(i, (i % classes) % width) += 1.5f;
    for (int k = 0; k < 4; ++k) {
      const int64_t j =
          static_cast<int64_t>(random.below(static_cast<uint64_t>(nodes / classes))) * classes + i % classes;
      src.insert(src.end(), {i, j});
      dst.insert(dst.end(), {j, i});
    }
  }
  data.graph = graph_of(src, dst, nodes, nodes);
  data.split = random_split(data.labels, classes, {nodes / (2 * classes), nodes / 4, nodes / 4, seed});
  data.fingerprint = data.graph.fingerprint();
  return data;
}

/// One small layer of every kind over double, with its input width.
struct LayerCase {
  std::string name;
  int64_t in = 0;
  bool takes_compressed = true;
  std::function<Result<LayerPtr<double>>(const Topology&, Random&)> make;
};
inline std::vector<LayerCase> layer_cases() {
  using sparse::Activation;
  const AttentionOptions joined{"a", 6, 3, 2, true, 0.3, 9, 0.2}, averaged{"a", 6, 3, 2, false, 0.3, 9, 0.2};
  return {
      {"linear", 6, true,
       [](const Topology&, Random& r) {
         return make_linear<double>({"l", 6, 4, true}, r);
       }},
      {"linear without bias", 6, true,
       [](const Topology&, Random& r) {
         return make_linear<double>({"l", 6, 4, false}, r);
       }},
      {"dropout", 6, false, [](const Topology&, Random&) { return make_dropout<double>(0.4, 3); }},
      {"relu", 6, false, [](const Topology&, Random&) { return make_activation<double>(Activation::relu); }},
      {"elu", 6, false, [](const Topology&, Random&) { return make_activation<double>(Activation::elu); }},
      {"leaky relu", 6, false,
       [](const Topology&, Random&) { return make_activation<double>(Activation::leaky_relu, 0.1); }},
      {"gcn narrowing", 6, true,
       [](const Topology& t, Random& r) {
         return make_gcn<double>(t, {"c", 6, 3, Activation::relu, false}, r);
       }},
      {"gcn widening", 6, true,
       [](const Topology& t, Random& r) {
         return make_gcn<double>(t, {"c", 6, 11, Activation::relu, false}, r);
       }},
      {"gcn linear", 6, true,
       [](const Topology& t, Random& r) {
         return make_gcn<double>(t, {"c", 6, 3, Activation::none, false}, r);
       }},
      {"sage mean", 6, true,
       [](const Topology& t, Random& r) {
         return make_sage<double>(t, {"c", 6, 3, Aggregation::mean, true, false}, r);
       }},
      {"sage mean widening", 6, true,
       [](const Topology& t, Random& r) {
         return make_sage<double>(t, {"c", 6, 9, Aggregation::mean, true, false}, r);
       }},
      {"sage max", 6, true,
       [](const Topology& t, Random& r) {
         return make_sage<double>(t, {"c", 6, 3, Aggregation::max, true, false}, r);
       }},
      {"sage sum without root", 6, true,
       [](const Topology& t, Random& r) {
         return make_sage<double>(t, {"c", 6, 3, Aggregation::sum, false, false}, r);
       }},
      {"gin narrowing", 6, true,
       [](const Topology& t, Random& r) {
         return make_gin<double>(t, {"c", 6, 4, 3, 0.5, false}, r);
       }},
      {"gin widening", 6, true,
       [](const Topology& t, Random& r) {
         return make_gin<double>(t, {"c", 6, 8, 3, 0.5, false}, r);
       }},
      {"gat joined", 6, true, [=](const Topology& t, Random& r) { return make_gat<double>(t, joined, r); }},
      {"gat averaged", 6, true, [=](const Topology& t, Random& r) { return make_gat<double>(t, averaged, r); }},
      {"gatv2 joined", 6, true, [=](const Topology& t, Random& r) { return make_gatv2<double>(t, joined, r); }},
      {"gatv2 averaged", 6, true, [=](const Topology& t, Random& r) { return make_gatv2<double>(t, averaged, r); }},
      {"transformer joined", 6, true,
       [=](const Topology& t, Random& r) { return make_transformer<double>(t, joined, r); }},
      {"transformer averaged", 6, true,
       [=](const Topology& t, Random& r) { return make_transformer<double>(t, averaged, r); }},
      {"agnn", 6, true,
       [](const Topology& t, Random&) {
         return make_agnn<double>(t, {"p", true});
       }},
  };
}

}  // namespace pantile::nn::test
