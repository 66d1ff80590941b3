#include "cli/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace pantile::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Value& value) {
  return value.visit([](const auto& held) -> Json {
    using T = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<T, std::monostate>) {
      return nullptr;
    } else if constexpr (std::is_same_v<T, double>) {
      return std::isfinite(held) ? Json(held) : Json(nullptr);
    } else if constexpr (std::is_same_v<T, Value::Array>) {
      Json array = Json::array();
      for (const Value& item : held) array.push_back(to_json(item));
      return array;
    } else if constexpr (std::is_same_v<T, Value::Object>) {
      Json object = Json::object();
      for (const auto& [key, field] : held) object[key] = to_json(field);
      return object;
    } else {
      return held;
    }
  });
}

Value from_json(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
      return json.get<int64_t>();
    case Json::value_t::number_unsigned: {
      const auto v = json.get<uint64_t>();
      return v <= INT64_MAX ? Value(static_cast<int64_t>(v)) : Value(v);
    }
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array: {
      Value array = Value::array();
      for (const Json& item : json) array.add(from_json(item));
      return array;
    }
    case Json::value_t::object: {
      Value object = Value::object();
      for (const auto& [key, field] : json.items()) object.set(key, from_json(field));
      return object;
    }
    default:
      return {};
  }
}

/// Depth of nesting from which a document is refused before parsing: converting it would recurse that deep.
constexpr int kMaxDepth = 64;

bool too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::string to_json_text(const Value& value, int indent) {
  return to_json(value).dump(indent, ' ', false, Json::error_handler_t::replace);
}

Result<Value> parse_json(std::string_view text, const std::string& what) {
  if (too_deep(text))
    return fail(ErrorCode::corrupt, fmt::format("{}: JSON nested deeper than {} levels", what, kMaxDepth));
  try {
    return from_json(Json::parse(text));
  } catch (const Json::parse_error& e) {
    return fail(ErrorCode::corrupt, fmt::format("{}: not valid JSON at byte {}", what, e.byte));
  }
}

}  // namespace pantile::cli
