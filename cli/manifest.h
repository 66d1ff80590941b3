#pragma once

#include <pantile/core/error.h>
#include <string>
#include <vector>

#include "cli/value.h"
#include "cli/verbs.h"

namespace pantile::cli {

/// Digest of a file, or of a folder's files by name in sorted order: "xxh3-128:<32 digits>". Errors: io.
Result<std::string> content_hash(const std::string& path);

/// Writes what is needed to do the run again and to see whether it came out the same: versions, machine, arguments,
/// folder, seed, inputs and outputs with their hashes, results, plan and timings. Atomic.
Status write_manifest(const GlobalOptions& global, const std::vector<std::string>& argv, int exit_code, double seconds);

/// A manifest read back, with the fields that a replay needs checked.
struct Manifest {
  struct File {
    std::string path, hash;
  };
  std::vector<std::string> argv;  ///< without the program's name
  std::string folder;
  int64_t exit_code = 0;
  std::vector<File> inputs, outputs;
  Value results;
};
Result<Manifest> read_manifest(const std::string& path);

}  // namespace pantile::cli
