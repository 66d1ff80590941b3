#pragma once

#include <cstdint>
#include <string>

namespace pantile::kernels {

/// Name of the Highway target that run-time dispatch chooses on this machine, such as "AVX2".
std::string chosen_simd_target();

/// `rounds` rounds of independent fp32 fused multiply-adds on registers; gives the operations done (two each) and keeps
/// the result alive through `sink`.
int64_t multiply_add_rounds(int64_t rounds, float* sink);

/// Sums rows index[0 .. count) of `table` (float[rows][64]: 256 bytes a row), 32 rows a time, into out[64].
void sum_rows(const float* table, const int32_t* index, int64_t count, float* out);

}  // namespace pantile::kernels
