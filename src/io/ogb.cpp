#include <dirent.h>
#include <fmt/format.h>
#include <pantile/io/ogb.h>

#include <algorithm>

#include "io/fields.h"
#include "io/growing_array.h"

namespace pantile {
namespace {

using io::FieldCursor;

/// `folder/stem.csv.gz` or `folder/stem.csv`, whichever is there; "" for neither.
std::string find_table(const std::string& folder, const std::string& stem) {
  for (const char* const end : {".csv.gz", ".csv"}) {
    std::string path = folder + "/" + stem + end;
    if (file_exists(path)) return path;
  }
  return "";
}

Result<std::string> need_table(const std::string& folder, const std::string& stem) {
  std::string path = find_table(folder, stem);
  if (path.empty()) {
    return fail(
        ErrorCode::io,
        fmt::format("{}: {}.csv.gz (or .csv) is missing; an OGB raw folder needs edge.csv and num-node-list.csv",
                    folder, stem));
  }
  return path;
}

std::string raw_folder(const std::string& path) { return folder_exists(path + "/raw") ? path + "/raw" : path; }

/// One integer per line.
Result<std::vector<int64_t>> read_integers(const Input& input, const char* what, int64_t below) {
  PANTILE_TRY(LineReader reader, LineReader::open(input));
  std::vector<int64_t> values;
  for (std::string_view line;;) {
    PANTILE_TRY(const bool there, reader.next(line));
    if (!there) return values;
    if (line.empty()) continue;
    FieldCursor at(line);
    int64_t value = 0;
    if (!at.take_id(value)) return tl::unexpected(reader.error(io::bad_id(at, what, 0)));
    if (!at.at_end())
      return tl::unexpected(reader.error(fmt::format("column 2: unexpected {}", io::quoted(at.field()))));
    if (value >= below)
      return tl::unexpected(
          reader.error(fmt::format("{} {} is outside [0, {})", what, value, below), ErrorCode::out_of_range));
    values.push_back(value);
  }
}

/// Running sums of per-graph counts.
Result<std::vector<int64_t>> offsets_of(const std::vector<int64_t>& counts, const std::string& path) {
  std::vector<int64_t> offsets = {0};
  for (const int64_t count : counts) {
    PANTILE_TRY(const int64_t next,
                checked_add(offsets.back(), count).map_error([&](Error e) { return e.within(path); }));
    offsets.push_back(next);
  }
  return offsets;
}

/// edge.csv: the edges of graph g are its lines [edge_offsets[g], edge_offsets[g + 1]), with ids local to the graph.
Result<EdgeList> read_edges(const std::string& path, const std::vector<int64_t>& nodes,
                            const std::vector<int64_t>& edge_offsets, bool both) {
  PANTILE_TRY(LineReader reader, LineReader::open(path));
  io::EdgeCollector edges;
  int64_t lines = 0;
  size_t graph = 0;
  for (std::string_view line;;) {
    PANTILE_TRY(const bool there, reader.next(line));
    if (!there) break;
    if (line.empty()) continue;
    while (graph + 2 < edge_offsets.size() && lines >= edge_offsets[graph + 1]) ++graph;
    ++lines;
    const int64_t first = nodes[graph], count = nodes[graph + 1] - first;
    FieldCursor at(line);
    int64_t ends[2] = {};
    for (int64_t& id : ends) {
      const FieldCursor before = at;
      if (!at.take_id(id)) return tl::unexpected(reader.error(io::bad_id(before, "a node id", 0)));
      if (id >= count)
        return tl::unexpected(
            reader.error(fmt::format("column {}: node id {} is outside [0, {})", before.column(), id, count),
                         ErrorCode::out_of_range));
    }
    if (!at.at_end())
      return tl::unexpected(
          reader.error(fmt::format("column 3: unexpected {}; a line is 'source,destination'", io::quoted(at.field()))));
    PANTILE_CHECK(edges.add(first + ends[0], first + ends[1]));
    if (both && ends[0] != ends[1]) PANTILE_CHECK(edges.add(first + ends[1], first + ends[0]));
  }
  if (edge_offsets.back() >= 0 && lines != edge_offsets.back()) {
    return tl::unexpected(
        reader.error(fmt::format("the file holds {} edges; num-edge-list says {}", lines, edge_offsets.back())));
  }
  return edges.finish(nodes.back(), nodes.back());
}

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* const entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] != '.' && folder_exists(path + "/" + name)) names.push_back(name);
  }
  ::closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::map<std::string, OgbSplit>> read_splits(const std::string& path, int64_t below) {
  std::map<std::string, OgbSplit> splits;
  for (const std::string& name : folders_in(path)) {
    const std::string folder = path + "/" + name;
    if (find_table(folder, "train").empty()) continue;  // splits of other kinds (link pairs) are kept in other files
    OgbSplit& split = splits[name];
    for (const auto& [stem, rows] : {std::pair<const char*, std::vector<int64_t>*>{"train", &split.train},
                                     {"valid", &split.valid},
                                     {"test", &split.test}}) {
      PANTILE_TRY(const std::string table, need_table(folder, stem));
      PANTILE_TRY(*rows, read_integers(table, "a row", below));
    }
  }
  return splits;
}

}  // namespace

bool is_ogb_folder(const std::string& path) {
  const std::string raw = raw_folder(path);
  return !find_table(raw, "edge").empty() && !find_table(raw, "num-node-list").empty();
}

Result<OgbFolder> read_ogb(const std::string& path, const OgbOptions& options) {
  if (!folder_exists(path)) return fail(ErrorCode::io, fmt::format("'{}' is not a folder", path));
  const std::string raw = raw_folder(path);
  PANTILE_TRY(const std::string edge_table, need_table(raw, "edge"));
  PANTILE_TRY(const std::string node_table, need_table(raw, "num-node-list"));
  OgbFolder out;
  PANTILE_TRY(const auto counts, read_integers(node_table, "a node count", io::kMostId));
  PANTILE_TRY(out.node_offsets, offsets_of(counts, node_table));
  const size_t graphs = counts.size();
  if (graphs == 0)
    return fail(ErrorCode::corrupt,
                fmt::format("{}: the list is empty; it must hold the node count of every graph", node_table));
  out.num_nodes = out.node_offsets.back();

  std::vector<int64_t> edge_offsets = {0, -1};  // -1: unknown, one graph
  if (const std::string table = find_table(raw, "num-edge-list"); !table.empty()) {
    PANTILE_TRY(const auto edge_counts, read_integers(table, "an edge count", io::kMostId));
    if (edge_counts.size() != graphs)
      return fail(ErrorCode::corrupt,
                  fmt::format("{}: {} graphs; {} holds {}", table, edge_counts.size(), node_table, graphs));
    PANTILE_TRY(edge_offsets, offsets_of(edge_counts, table));
  } else if (graphs > 1) {
    return fail(ErrorCode::io,
                fmt::format("{}: num-edge-list.csv.gz is missing; it is needed for the {} graphs of num-node-list", raw,
                            graphs));
  }
  PANTILE_TRY(out.edges, read_edges(edge_table, out.node_offsets, edge_offsets, options.undirected));
  if (!options.features) return out;

  if (const std::string table = find_table(raw, "node-feat"); !table.empty()) {
    PANTILE_TRY(out.node_feat, read_number_table(table, {.rows = out.num_nodes}));
  }
  if (const std::string table = find_table(raw, "node-label"); !table.empty()) {
    PANTILE_TRY(out.node_label, read_number_table(table, {.rows = out.num_nodes, .allow_nan = true}));
  }
  const std::string above = raw == path ? path + "/.." : path;
  const std::string splits = folder_exists(path + "/split") ? path + "/split" : above + "/split";
  PANTILE_TRY(out.splits, read_splits(splits, graphs == 1 ? out.num_nodes : static_cast<int64_t>(graphs)));
  return out;
}

}  // namespace pantile
