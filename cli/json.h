#pragma once

#include <pantile/core/error.h>
#include <string>
#include <string_view>

#include "cli/value.h"

namespace pantile::cli {

/// The value as JSON text: two spaces of indent (indent < 0: one line), no newline at the end. Text that is not UTF-8,
/// as file names may be, has its bad bytes replaced.
std::string to_json_text(const Value& value, int indent = 2);
/// Errors: corrupt, naming `what` and the byte where the text stops being JSON.
Result<Value> parse_json(std::string_view text, const std::string& what);

}  // namespace pantile::cli
