#pragma once

#include <pantile/io/file.h>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pantile {

/// Parses a JSON file of at most `limit` bytes and 128 levels. Errors name file, line and column.
Result<nlohmann::json> read_json(const Input& input, int64_t limit = int64_t{64} << 20);
/// Writes `value` with two spaces of indentation and a final newline; atomic. Errors: invalid_argument for text that is
/// not UTF-8.
Status write_json(const std::string& path, const nlohmann::json& value);

}  // namespace pantile
