#pragma once

#include <pantile/core/error.h>
#include <pantile/graph/read.h>
#include <string>

#include "cli/verbs.h"

namespace pantile::cli {

/// Records a file or folder that the run reads.
void announce_input(const GlobalOptions& global, const std::string& path);
/// Checks what would make all work before writing `path` futile: an empty name, a folder in its place, a folder for it
/// that is missing or cannot be written. Errors: io, invalid_argument.
Status check_output(const std::string& path);
/// Checks and records a file that the run will write.
Status announce_output(const GlobalOptions& global, const std::string& path);

/// Reads the graph, records it as an input and its time as "read".
Result<GraphFile> load_graph(const GlobalOptions& global, const GraphSource& source);

}  // namespace pantile::cli
