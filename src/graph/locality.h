#pragma once

#include <pantile/graph/graph.h>

namespace pantile {

/// Distinct columns / edges, averaged over 64 sampled windows of 8 rows (1 = nothing shared; 0 without edges).
double distinct_in_row_windows(const Csr& csr);
/// The same over windows of 512 consecutive edges, the size of a unit of work.
double distinct_in_units(const Csr& csr);

}  // namespace pantile
