#include "cli/announce.h"

#include <fmt/format.h>
#include <unistd.h>

#include <pantile/io/file.h>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/console.h"
#include "cli/run_record.h"
#include "cli/stopwatch.h"

namespace pantile::cli {
namespace {

/// From this size on reading takes long enough to be announced on stderr.
constexpr int64_t kWorthANote = int64_t{32} << 20;

}  // namespace

void announce_input(const GlobalOptions& global, const std::string& path) { global.record->input(path); }

Status check_output(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) return fail(ErrorCode::invalid_argument, "the output file has an empty name");
  if (folder_exists(path)) return fail(ErrorCode::io, fmt::format("{}: is a folder; name a file to write", path));
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!folder_exists(folder)) {
    return fail(ErrorCode::io,
                fmt::format("{}: the folder {} does not exist; make it first: mkdir -p {}", path, folder, folder));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return fail(ErrorCode::io,
                fmt::format("{}: cannot write in the folder {}: {}", path, folder, std::strerror(errno)));
  }
  return {};
}

Status announce_output(const GlobalOptions& global, const std::string& path) {
  PANTILE_CHECK(check_output(path));
  global.record->output(path);
  return {};
}

Result<GraphFile> load_graph(const GlobalOptions& global, const GraphSource& source) {
  announce_input(global, source.path);
  if (const auto size = file_size(source.path); size && *size >= kWorthANote) {
    print_note(global, fmt::format("reading {} ({}) ...", source.path, as_bytes(*size)));
  }
  ReadGraphOptions options;
  options.format = source.format;
  options.num_nodes = source.num_nodes;
  options.undirected = source.undirected;
  options.base = source.base;
  const Stopwatch watch;
  PANTILE_TRY(GraphFile file, read_graph(source.path, options));
  global.record->timing("read", watch.seconds());
  global.record->result("input graph", file.graph.fingerprint().hex());
  return file;
}

}  // namespace pantile::cli
