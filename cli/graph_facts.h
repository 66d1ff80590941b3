#pragma once

#include <pantile/graph/graph.h>
#include <string>

#include "cli/value.h"

namespace pantile::cli {

/// Every field of the profile under its own name.
Value to_value(const GraphProfile& profile);
/// "81 306 nodes, 2 684 606 edges"
std::string size_text(const Graph& graph);
/// Sizes and fingerprint, as verbs that write a graph report it.
Value size_value(const Graph& graph);

}  // namespace pantile::cli
