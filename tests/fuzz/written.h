#pragma once

#include <pantile/io/file.h>

#include <functional>
#include <string>

#include "support/temporary_folder.h"

namespace pantile::fuzz {

/// The bytes that a writer makes.
inline std::string written(const std::function<Status(const std::string&)>& write) {
  const test::TemporaryFolder folder;
  if (!write(folder / "seed")) return "";
  auto bytes = read_text(folder / "seed");
  return bytes ? *bytes : "";
}

}  // namespace pantile::fuzz
