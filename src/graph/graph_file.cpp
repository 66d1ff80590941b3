#include "graph/graph_file.h"

#include <fmt/format.h>

#include <pantile/io/file.h>
#include <array>
#include <cmath>
#include <cstring>

#include "graph/state.h"

namespace pantile {
namespace {

constexpr char kMagic[8] = {'P', 'A', 'N', 'T', 'I', 'L', 'E', 'G'};
constexpr uint32_t kVersion = 1, kMark = 0x01020304, kForeignMark = 0x04030201;
constexpr uint64_t kHasWeights = 1;
constexpr uint64_t kAlignment = 64;

struct Header {
  char magic[8];
  uint32_t version, mark;
  int64_t rows, cols, edges;
  uint64_t flags;
  std::array<uint64_t, 3> offset;  // ptr, col, weights
  uint64_t file_bytes;
  std::array<Hash128, 3> checksum;
  char zeros[112];
  Hash128 header_checksum;
};
static_assert(sizeof(Header) == 256 && offsetof(Header, checksum) == 80 && offsetof(Header, header_checksum) == 240);

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Where the sections of such a graph must lie; sizes have been checked, so nothing overflows.
struct Layout {
  std::array<uint64_t, 3> bytes{}, offset{};
  uint64_t file_bytes = 0;
  Layout(int64_t rows, int64_t edges, bool weights) {
    bytes = {static_cast<uint64_t>(rows + 1) * 8, static_cast<uint64_t>(edges) * 4,
             weights ? static_cast<uint64_t>(edges) * 4 : 0};
    uint64_t at = sizeof(Header);
    for (size_t s = 0; s < 3; ++s) {
      if (s == 2 && !weights) continue;
      offset[s] = at;
      at = aligned(at + bytes[s]);
    }
    file_bytes = at;
  }
};

tl::unexpected<Error> corrupt(const std::string& path, const std::string& what) {
  return fail(ErrorCode::corrupt, fmt::format("{}: {}", path, what), {{"file", path}});
}

Result<Header> read_header(const std::string& path, std::string_view file) {
  if (!has_graph_magic(file)) return corrupt(path, "this is no pantile graph file: it does not start with PANTILEG");
  if (file.size() < sizeof(Header)) {
    return corrupt(path, fmt::format("the file ends inside its header: {} of {} bytes", file.size(), sizeof(Header)));
  }
  Header h;
  std::memcpy(&h, file.data(), sizeof h);
  if (h.mark == kForeignMark) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("{}: the file was written on a machine of the other byte order; convert it there to .mtx", path));
  }
  if (h.mark != kMark) return corrupt(path, "the byte-order mark at offset 12 is damaged");
  if (h.version != kVersion) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: version {} of the format; this build reads version {}", path, h.version, kVersion));
  }
  if (hash_bytes(file.data(), offsetof(Header, header_checksum)) != h.header_checksum)
    return corrupt(path, "the header's checksum is wrong");
  constexpr int64_t kMostEdges = int64_t{1} << 58;  // keeps the products of the layout inside 64 bits
  if (h.rows < 0 || h.cols < 0 || h.edges < 0 || h.edges > kMostEdges || h.flags > kHasWeights) {
    return corrupt(path,
                   fmt::format("the header says {} x {} nodes, {} edges, flags {}", h.rows, h.cols, h.edges, h.flags));
  }
  if (const Status counts = check_node_counts(h.rows, h.cols); !counts)
    return tl::unexpected<Error>(counts.error().within(path));
  const Layout layout(h.rows, h.edges, h.flags == kHasWeights);
  if (h.file_bytes != layout.file_bytes || h.offset != layout.offset)
    return corrupt(path, "the header's sections do not fit its counts");
  if (h.file_bytes != file.size()) {
    return corrupt(path,
                   fmt::format("the file has {} bytes; its header says {} (cut short?)", file.size(), h.file_bytes));
  }
  return h;
}

}  // namespace

bool has_graph_magic(std::string_view bytes) { return bytes.starts_with(std::string_view(kMagic, sizeof kMagic)); }

Status write_graph_file(const std::string& path, const Graph& g, std::span<const float> weights) {
  const Csr a = g.csr();
  const Layout layout(a.rows, a.edges(), !weights.empty());
  const std::array<const void*, 3> data = {a.ptr, a.col, weights.data()};
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.version = kVersion;
  h.mark = kMark;
  h.rows = a.rows;
  h.cols = a.cols;
  h.edges = a.edges();
  h.flags = weights.empty() ? 0 : kHasWeights;
  h.offset = layout.offset;
  h.file_bytes = layout.file_bytes;
  for (size_t s = 0; s < 3; ++s) {
    if (layout.offset[s] != 0) h.checksum[s] = hash_bytes(data[s], layout.bytes[s]);
  }
  h.header_checksum = hash_bytes(&h, offsetof(Header, header_checksum));
  PANTILE_TRY(AtomicFile file, AtomicFile::create(path));
  PANTILE_CHECK(file.write(&h, sizeof h));
  for (size_t s = 0; s < 3; ++s) {
    if (layout.offset[s] == 0) continue;
    PANTILE_CHECK(file.write(data[s], layout.bytes[s]));
    PANTILE_CHECK(file.align(kAlignment));
  }
  return file.commit();
}

Result<GraphFile> map_graph_file(const std::string& path) {
  PANTILE_TRY(MappedFile mapped, MappedFile::open(path));
  auto file = std::make_shared<const MappedFile>(std::move(mapped));
  PANTILE_TRY(const Header h, read_header(path, file->text()));
  const Layout layout(h.rows, h.edges, h.flags == kHasWeights);
  const char* const names[3] = {"ptr", "col", "weights"};
  for (size_t s = 0; s < 3; ++s) {
    if (layout.offset[s] == 0) continue;
    if (hash_bytes(file->data() + layout.offset[s], layout.bytes[s]) != h.checksum[s]) {
      return corrupt(path, fmt::format("the checksum of section {} is wrong", names[s]));
    }
  }
  const auto* const ptr = reinterpret_cast<const int64_t*>(file->data() + layout.offset[0]);
  const auto* const col = reinterpret_cast<const int32_t*>(file->data() + layout.offset[1]);
  if (ptr[0] != 0 || ptr[h.rows] != h.edges)
    return corrupt(path, "the offsets do not run from 0 to the number of edges");
  GraphFile out;
  if (h.flags == kHasWeights) {
    PANTILE_TRY(out.weights, Array<float>::allocate(h.edges));
    if (h.edges > 0) std::memcpy(out.weights.data(), file->data() + layout.offset[2], layout.bytes[2]);
    for (int64_t k = 0; k < h.edges; ++k) {
      if (!std::isfinite(out.weights[k]))
        return corrupt(path, fmt::format("weight {} is {}; weights must be finite", k, out.weights[k]));
    }
  }
  auto graph = Graph::borrow_csr(h.rows, h.cols, ptr, col, file);
  if (!graph) return corrupt(path, graph.error().message);
  out.graph = std::move(*graph);
  return out;
}

}  // namespace pantile
