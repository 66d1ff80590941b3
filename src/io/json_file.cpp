#include <fmt/format.h>

#include <pantile/io/json_file.h>
#include <nlohmann/json.hpp>

namespace pantile {
namespace {

constexpr int kDeepest = 128;

/// Levels of brackets outside strings: deep nesting is refused before a parser builds anything.
int nesting(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

/// "line 3, column 7" of a byte of the text.
std::string place(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t last = before.rfind('\n');
  return fmt::format("{}:{}", line, last == std::string_view::npos ? before.size() + 1 : before.size() - last);
}

}  // namespace

Result<nlohmann::json> read_json(const Input& input, int64_t limit) {
  PANTILE_TRY(const std::string text, read_text(input, limit));
  if (nesting(text) > kDeepest) {
    return fail(ErrorCode::corrupt, fmt::format("{}: more than {} levels of nesting", input.name, kDeepest));
  }
  try {  // the parser's way to say where; the exception ends here
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    return fail(ErrorCode::corrupt,
                fmt::format("{}:{}: not valid JSON", input.name, place(text, e.byte > 0 ? e.byte - 1 : 0)));
  } catch (const nlohmann::json::exception& e) {
    return fail(ErrorCode::corrupt, fmt::format("{}: not valid JSON ({})", input.name, e.what()));
  }
}

Status write_json(const std::string& path, const nlohmann::json& value) {
  std::string text;
  try {
    text = value.dump(2) + "\n";
  } catch (const nlohmann::json::exception& e) {
    return fail(ErrorCode::invalid_argument, fmt::format("cannot write '{}': {}", path, e.what()));
  }
  return write_text(path, text);
}

}  // namespace pantile
