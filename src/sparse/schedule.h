#pragma once

#include <pantile/sparse/plan.h>

namespace pantile::sparse {

/// Whether a unit of whole rows is walked by ascending degree. Below about 24 edges a row, a mispredicted row end costs
/// as much as the row's arithmetic; above, the order of storage keeps the stream of prefetches intact.
inline bool sorted_by_degree(const Unit& u) { return u.edge_end - u.edge < 24 * (u.row_end - u.row); }

}  // namespace pantile::sparse
