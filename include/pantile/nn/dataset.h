#pragma once

#include <pantile/core/buffer.h>
#include <pantile/core/error.h>
#include <pantile/core/hash.h>
#include <pantile/graph/graph.h>
#include <pantile/nn/features.h>
#include <pantile/nn/network.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pantile::nn {

/// Node features as loaded: dense, or compressed when few elements are not zero (bag of words).
/// Invariant: exactly one of `dense` and `pattern` is filled.
struct FeatureTable {
  int64_t rows = 0, width = 0;
  DenseMatrix<float> dense;      ///< [rows, width]
  std::optional<Graph> pattern;  ///< rows x width
  Array<float> values;           ///< [pattern edges]

  /// Borrowed and constant.
  Features<float> view() const;
  int64_t stored() const { return pattern ? pattern->edges() : -1; }
};

/// Dense numbers, compressed when at most `sparse_share` of them are not zero. Errors: out_of_memory.
Result<FeatureTable> make_features(DenseMatrix<float> dense, double sparse_share);
/// Divides every row by the sum of its absolute values; rows of zeros stay.
void normalise_rows(FeatureTable& x);

/// Ascending node ids. Invariant: the three are disjoint.
struct NodeSplit {
  std::vector<int64_t> train, validation, test;
  std::string origin;  ///< "masks of the file", "split/time of the folder", "random by seed 0: ..."
};

/// How many labelled nodes a random split gives to each part: `train_per_class` of each class (at most half of the
/// class), then up to `validation` and `test` of the rest; when the rest is short, one third of it and the other two.
struct RandomSplit {
  int64_t train_per_class = 20, validation = 500, test = 1000;
  uint64_t seed = 0;
};
/// labels: -1 for unlabelled nodes. The same split for the same labels and seed on every machine.
NodeSplit random_split(std::span<const int64_t> labels, int64_t classes, const RandomSplit& options);

/// automatic: rows for compressed features without negative values, none for others.
enum class Normalisation { none, rows, automatic };
const char* name(Normalisation n);
std::optional<Normalisation> normalisation_from_name(std::string_view name);

struct DatasetOptions {
  Normalisation normalisation = Normalisation::automatic;
  bool undirected = false;    ///< add the reverse of every edge, without duplicates
  RandomSplit split;          ///< used when the data has no split of its own
  double sparse_share = 0.1;  ///< see make_features
};

/// Node classification on one graph.
struct Dataset {
  std::string name;  ///< file or folder name without extension
  std::string path;
  Graph graph;
  std::vector<float> edge_weights;  ///< [edges] in CSR order, or empty
  FeatureTable features;
  std::vector<int64_t> labels;  ///< [nodes], -1 = unlabelled
  int64_t classes = 0;          ///< 1 + the largest label
  NodeSplit split;
  Normalisation normalisation = Normalisation::none;  ///< what was done
  bool undirected = false;                            ///< as asked for
  Hash128 fingerprint;  ///< of graph, edge weights, features before normalisation and labels; not of the split

  DataShape shape() const;
};

/// Reads a dataset. `path` is one of
///   FILE.npz   edge_index [2, E] integers (row 0 = source, row 1 = target, both directions listed where edges have
///   none),
///              x [N, F] numbers, y [N] integers (-1 = unlabelled), optionally train_mask, val_mask, test_mask [N]
///              bools (all three or none) and edge_weight [E]
///   DIR        an OGB raw folder (raw/edge.csv.gz, raw/num-node-list.csv.gz, raw/node-feat.csv.gz,
///   raw/node-label.csv.gz,
///              optionally split/NAME/{train,valid,test}.csv.gz)
/// Errors: io, corrupt, invalid_argument, out_of_range; each names the file, the array and the position, and what a
/// good file holds. Non-finite features, labels outside int range, empty or overlapping masks and unlabelled nodes in
/// masks are refused.
Result<Dataset> load_dataset(const std::string& path, const DatasetOptions& options = {});

}  // namespace pantile::nn
