#pragma once

#include <pantile/io/edge_list.h>
#include <pantile/io/tensor.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pantile {

/// Row numbers of one split, as split/<name>/{train,valid,test}.csv.gz lists them.
struct OgbSplit {
  std::vector<int64_t> train, valid, test;
};

/// The content of an OGB folder. Files of several graphs are joined into one graph of disjoint parts.
struct OgbFolder {
  EdgeList edges;                     ///< edge.csv[.gz]; num_src == num_dst == nodes
  int64_t num_nodes = 0;              ///< sum of num-node-list.csv[.gz]
  std::vector<int64_t> node_offsets;  ///< [graphs + 1]: first node of every graph
  std::optional<Tensor> node_feat;    ///< f32 [nodes, F]; node-feat.csv[.gz] when there
  std::optional<Tensor> node_label;   ///< f32 [nodes, L], NaN where the file says nan or leaves the field empty;
                                      ///< node-label.csv[.gz] when there
  std::map<std::string, OgbSplit> splits;
};

/// What to take from the folder.
struct OgbOptions {
  bool undirected = false;  ///< every line of edge.csv stands for both directions (self-loops once)
  bool features = true;     ///< false: edges and node counts only
};

/// `path` is the dataset's folder (with raw/ and split/) or its raw/ folder (split/ is then looked for beside it).
/// Needed: edge.csv and num-node-list.csv, each plain or .gz. num-edge-list.csv, when there, must agree. Errors: io
/// naming the missing file; located ones for content: an id outside its graph, rows that are too many, too few or of
/// unequal length.
Result<OgbFolder> read_ogb(const std::string& path, const OgbOptions& options = {});
/// True when the folder looks like one that read_ogb takes.
bool is_ogb_folder(const std::string& path);

/// How read_number_table treats fields.
struct NumberTableOptions {
  int64_t rows = -1;       ///< expected number of rows; -1: any
  int64_t cols = -1;       ///< expected number of columns; -1: as the first row
  bool allow_nan = false;  ///< "nan" and empty fields give NaN instead of an error
};
/// A comma-separated table of numbers without header (gzip by content), f32 [rows, cols]. Errors name file, line,
/// column, value.
Result<Tensor> read_number_table(const Input& input, const NumberTableOptions& options = {});

}  // namespace pantile
