#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/graph/graph.h>

namespace pantile::sparse {

/// The bound of every gather on this machine: the rows of x named by the column indices of csr, loaded and added up as
/// if they were one long row - no row ends, no weights, no output. The same prefetch and panels as SpMM. Returns a
/// checksum, so that the work cannot be dropped. x: f32 or bf16, [csr.cols, F].
Result<double> gather_roofline(const Csr& csr, ConstMatrix x);

}  // namespace pantile::sparse
