#pragma once

#include <string>
#include <vector>

namespace pantile::cli {

/// Something that Pantile uses when it is there.
struct Library {
  std::string name;
  std::string purpose;  ///< what it is for, in a few words
  bool found = false;
  std::string version;  ///< "" when it cannot be told without starting it
  std::string where;    ///< a path, or the Python that has it
  std::string install;  ///< the line that installs it
};

/// Looks for the optional libraries: Python packages in the Python that `python3` starts (or $VIRTUAL_ENV's), programs
/// on PATH, shared libraries in the loader's folders. Nothing is loaded, nothing is imported.
std::vector<Library> find_libraries();

}  // namespace pantile::cli
