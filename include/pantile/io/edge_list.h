#pragma once

#include <pantile/core/buffer.h>
#include <pantile/io/file.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pantile {

/// Edges src[k] -> dst[k] in the order of the file, ids from 0; duplicates and self-loops as they stand there.
/// Invariants: src.size() == dst.size(); every id is >= 0 and below num_dst (dst) or num_src (src) where those are
/// declared; weights are finite.
struct EdgeList {
  Array<int64_t> src, dst;
  Array<float> weights;  ///< [edges], or empty when the file has none
  int64_t num_src = -1;  ///< as the file declares it; -1 when it does not
  int64_t num_dst = -1;

  int64_t edges() const { return src.size(); }
  bool weighted() const { return weights.size() == src.size() && !src.empty(); }
};

/// How to read a text edge list.
struct EdgeListOptions {
  int64_t base = -1;  ///< first id, 0 or 1; -1: as the file declares it, else 0
  /// true: every line stands for both directions (self-loops once); false: for src -> dst only; nothing: as the file
  /// declares it, else src -> dst only.
  std::optional<bool> undirected = std::nullopt;
  int64_t num_nodes =
      -1;  ///< ids at or beyond it are out_of_range; -1: as the file declares it, else no bound below 2^62
  int weight_column = kThird;  ///< column of the weights from 0

  static constexpr int kThird = -1;      ///< the third column when lines have exactly three
  static constexpr int kNoWeights = -2;  ///< columns after the second are ignored
};

/// One edge a line, two ids and perhaps further columns, separated by tabs, spaces, commas or semicolons in any
/// mixture; comments start with # or %; a first line with anything but numbers is a header and skipped. gzip by
/// content. SNAP's and CSV files. Two declarations are honoured: a comment "# [un]directed, 0-based; n=<nodes>
/// m=<lines>" (what write_csv_edges writes) and the first line "<nodes>,<lines>,u|d,graph" of JuliaGraphs' collection
/// (ids from 1 there). A wrong number of lines is then corrupt. Errors name file, line, column and value.
Result<EdgeList> read_csv_edges(const Input& input, const EdgeListOptions& options = {});
/// The same reader under the name people look for.
inline Result<EdgeList> read_snap(const Input& input, const EdgeListOptions& options = {}) {
  return read_csv_edges(input, options);
}

/// MatrixMarket, coordinate format, gzip by content. Row i, column j is the edge j -> i: src = column, dst = row,
/// num_dst = rows, num_src = columns. symmetric and skew-symmetric are expanded (off-diagonal entries become two edges;
/// skew negates the second). pattern has no weights; real and integer become float32. Unsupported, and said so:
/// complex, hermitian, dense "array".
Result<EdgeList> read_matrix_market(const Input& input);

/// METIS .graph: ids from 1, every edge listed from both ends. Line i lists the sources of node i's in-edges (the same
/// as its out-edges, since the file is symmetric: checked, weights too). Edge weights kept; vertex sizes and weights
/// skipped. gzip by content.
Result<EdgeList> read_metis(const Input& input);

/// scipy.sparse.save_npz files (csr, csc, coo), in the convention of read_matrix_market. Weights are always there.
/// Duplicate entries stay. Offsets must be nondecreasing and end at the number of entries.
Result<EdgeList> read_scipy_npz(const Input& input);

/// A view of edges to write. weights may be empty.
struct EdgeListView {
  std::span<const int64_t> src, dst;
  std::span<const float> weights;
  int64_t num_src = 0, num_dst = 0;
};

/// Writers are atomic; names that end in .gz are compressed. Numbers are written so that they read back to the same
/// bits. Errors: out_of_range, with the edge, when an id is outside its count; nothing is written then. "general",
/// pattern without weights and real with them.
Status write_matrix_market(const std::string& path, const EdgeListView& edges);
/// "src,dst" or "src,dst,weight" lines after the declaration comment; num_src must equal num_dst.
Status write_csv_edges(const std::string& path, const EdgeListView& edges);
/// Needs a symmetric square graph without self-loops or duplicates; the first offending edge is named. Weights must be
/// positive integers, as the format asks.
Status write_metis(const std::string& path, const EdgeListView& edges);
/// csr, entries sorted by row in a stable way; weights of 1 when there are none. Stored, or deflated when `compress`.
Status write_scipy_npz(const std::string& path, const EdgeListView& edges, bool compress = false);

}  // namespace pantile
