#include <pantile/graph/read.h>

#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <pantile/io/edge_list.h>
#include <pantile/io/npy.h>
#include <pantile/io/ogb.h>
#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "graph/graph_file.h"
#include "graph/state.h"

namespace pantile {
namespace {

constexpr std::string_view kFormats = "mtx, snap, csv, metis, ogb, npz, scipy, pantile";

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string format_by_name(const std::string& path) {
  std::string name = lower(path);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kEndings = {{
      {".pantile", "pantile"},
      {".mtx", "mtx"},
      {".matrixmarket", "mtx"},
      {".mm", "mtx"},
      {".graph", "metis"},
      {".metis", "metis"},
      {".npz", "npz"},
      {".csv", "csv"},
      {".tsv", "csv"},
      {".edgelist", "snap"},
      {".edges", "snap"},
      {".txt", "snap"},
  }};
  for (const auto& [ending, format] : kEndings) {
    if (name.ends_with(ending)) return std::string(format);
  }
  return {};
}

/// By name, and where the name says nothing by the first bytes.
Result<std::string> detect_format(const std::string& path) {
  if (folder_exists(path)) {
    if (is_ogb_folder(path)) return "ogb";
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} is a folder without edge.csv and num-node-list.csv; only OGB raw folders are read as folders",
                    path));
  }
  PANTILE_CHECK(file_size(path));
  if (std::string format = format_by_name(path); !format.empty()) return format;
  std::array<char, 16> start{};
  std::ifstream in(path, std::ios::binary);
  in.read(start.data(), start.size());
  const std::string_view head(start.data(), static_cast<size_t>(in.gcount()));
  if (has_graph_magic(head)) return "pantile";
  if (head.starts_with("%%MatrixMarket")) return "mtx";
  if (head.starts_with("PK")) return "npz";
  if (!head.empty() && (head[0] == '#' || head[0] == '%' || (head[0] >= '0' && head[0] <= '9'))) return "snap";
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: neither its name nor its content tells the format; pass one of {}", path, kFormats));
}

/// Weights from the file's order into CSR order.
Result<GraphFile> build(const EdgeList& e, int64_t num_nodes) {
  GraphFile out;
  const int64_t dst = e.num_dst >= 0 ? e.num_dst : num_nodes, src = e.num_src >= 0 ? e.num_src : num_nodes;
  if (dst < 0 || src < 0) {  // an edge list without declared counts: one node set
    int64_t most = -1;
    for (const auto* ids : {&e.src, &e.dst}) {
      if (!ids->empty()) most = std::max(most, *std::max_element(ids->begin(), ids->end()));
    }
    if (most >= std::numeric_limits<int32_t>::max()) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("node {} is too large: ids must be below 2147483647; renumber the nodes to 0..n-1", most));
    }
    PANTILE_TRY(out.graph, Graph::from_edges(e.src.span(), e.dst.span(), most + 1, most + 1));
  } else {
    PANTILE_TRY(out.graph, Graph::from_edges(e.src.span(), e.dst.span(), dst, src));
  }
  if (!e.weighted()) return out;
  PANTILE_TRY(out.weights, Array<float>::allocate(e.edges()));
  const std::span<const int64_t> id = out.graph.edge_id();
  parallel_for(e.edges(), int64_t{1} << 16, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) out.weights[k] = e.weights[id.empty() ? k : id[static_cast<size_t>(k)]];
  });
  out.graph = GraphAssembly::without_ids(out.graph);
  return out;
}

/// npz files: scipy's sparse matrices, or an edge_index of [2, edges].
Result<EdgeList> read_npz_edges(const std::string& path, int64_t num_nodes) {
  PANTILE_TRY(const auto arrays, read_npz(path));
  const auto found = arrays.find("edge_index");
  if (found == arrays.end()) return read_scipy_npz(path);
  const Tensor& t = found->second;
  if (t.shape.size() != 2 || t.shape[0] != 2) {
    const bool turned = t.shape.size() == 2 && t.shape[1] == 2;
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: edge_index is {}; it must be [2, edges]{}", path, shape_text(t.shape),
                            turned ? ", row 0 the sources: transpose it" : ""));
  }
  PANTILE_TRY(const Array<int64_t> ids, to_int64(t.view(), path + ": edge_index"));
  const int64_t edges = t.shape[1];
  EdgeList e;
  PANTILE_TRY(e.src, Array<int64_t>::allocate(edges));
  PANTILE_TRY(e.dst, Array<int64_t>::allocate(edges));
  std::copy(ids.begin(), ids.begin() + edges, e.src.begin());
  std::copy(ids.begin() + edges, ids.end(), e.dst.begin());
  if (const auto x = arrays.find("x"); x != arrays.end() && x->second.shape.size() == 2 && num_nodes < 0) {
    e.num_src = e.num_dst = x->second.shape[0];  // the node features know how many nodes there are
  }
  return e;
}

Result<EdgeList> read_edges(const std::string& path, const std::string& format, const ReadGraphOptions& options) {
  if (format == "mtx") return read_matrix_market(path);
  if (format == "metis") return read_metis(path);
  if (format == "scipy") return read_scipy_npz(path);
  if (format == "npz") return read_npz_edges(path, options.num_nodes);
  if (format == "ogb") {
    PANTILE_TRY(OgbFolder folder, read_ogb(path, {.undirected = options.undirected, .features = false}));
    return std::move(folder.edges);
  }
  if (format == "csv" || format == "snap") {
    EdgeListOptions list;
    list.base = options.base;
    list.num_nodes = options.num_nodes;
    if (options.undirected) list.undirected = true;
    return read_csv_edges(path, list);
  }
  return fail(ErrorCode::invalid_argument, fmt::format("format {} is not known; choose one of {}", format, kFormats));
}

}  // namespace

Result<GraphFile> read_graph(const std::string& path, const ReadGraphOptions& options) {
  if (options.num_nodes < -1) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("num_nodes is {}; it must be >= 0, or -1 for 1 + the largest id", options.num_nodes));
  }
  std::string format = options.format;
  if (format.empty()) {
    PANTILE_TRY(format, detect_format(path));
  }
  if (format == "pantile") return map_graph(path);
  PANTILE_TRY(const EdgeList edges, read_edges(path, format, options));
  auto graph = build(edges, options.num_nodes);
  if (!graph) return tl::unexpected<Error>(graph.error().within(path));
  return graph;
}

Status write_graph(const std::string& path, const Graph& g, std::span<const float> weights, const std::string& format) {
  if (!weights.empty() && static_cast<int64_t>(weights.size()) != g.edges()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("there are {} weights for {} edges; give one per edge in CSR order, or none",
                            weights.size(), g.edges()));
  }
  const std::string chosen = format.empty() ? format_by_name(path) : format;
  if (chosen == "pantile") return write_graph_file(path, g, weights);
  const Csr a = g.csr();
  PANTILE_CHECK(check_memory(16 * a.edges(), fmt::format("writing {} edges", a.edges())));
  PANTILE_TRY(Array<int64_t> src, Array<int64_t>::allocate(a.edges()));
  PANTILE_TRY(Array<int64_t> dst, Array<int64_t>::allocate(a.edges()));
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) {
      src[k] = a.col[k];
      dst[k] = r;
    }
  }
  const EdgeListView edges{src.span(), dst.span(), weights, a.cols, a.rows};
  if (chosen == "mtx") return write_matrix_market(path, edges);
  if (chosen == "csv") return write_csv_edges(path, edges);
  if (chosen == "metis") return write_metis(path, edges);
  if (chosen == "npz" || chosen == "scipy") return write_scipy_npz(path, edges);
  return fail(ErrorCode::invalid_argument, fmt::format("{}: cannot write format \"{}\"; use the ending .pantile, .mtx, "
                                                       ".npz, .csv or .graph, or name one of these formats",
                                                       path, chosen));
}

Result<GraphFile> map_graph(const std::string& path) { return map_graph_file(path); }

}  // namespace pantile
