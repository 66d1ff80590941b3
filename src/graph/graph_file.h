#pragma once

#include <pantile/graph/read.h>

namespace pantile {

/// Pantile's own graph file, made to be mapped: a 256-byte header and up to three sections, each on a 64-byte line.
///
///   0  magic "PANTILEG"     8  version u32 = 1     12  endianness mark u32 = 0x01020304
///  16  rows i64            24  cols i64            32  edges i64
///  40  flags u64 (1: weights)
///  48  offsets of the sections ptr, col, weights, from the start of the file, u64 each (0: absent)
///  72  size of the whole file u64
///  80  checksums of ptr, col, weights: 128-bit XXH3 of each (two u64, low word first)
/// 128  zeros
/// 240  checksum of bytes [0, 240)
///
/// Sections: ptr i64[rows + 1], col i32[edges], weights f32[edges], in the byte order of the mark.
Status write_graph_file(const std::string& path, const Graph& g, std::span<const float> weights);

/// Header, sizes, checksums and the invariants of Graph are verified. The mapping lives as long as the graph.
Result<GraphFile> map_graph_file(const std::string& path);

/// True when the bytes start like such a file.
bool has_graph_magic(std::string_view bytes);

}  // namespace pantile
