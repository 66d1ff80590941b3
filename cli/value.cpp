#include "cli/value.h"

#include <algorithm>

namespace pantile::cli {
namespace {

const Value kNull;

}  // namespace

Value& Value::set(std::string_view key, Value v) {
  if (!std::holds_alternative<Object>(data_)) data_ = Object{};
  auto& fields = std::get<Object>(data_);
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == key; });
  if (at != fields.end()) {
    at->second = std::move(v);
  } else {
    fields.emplace_back(std::string(key), std::move(v));
  }
  return *this;
}

Value& Value::add(Value v) {
  if (!std::holds_alternative<Array>(data_)) data_ = Array{};
  std::get<Array>(data_).push_back(std::move(v));
  return *this;
}

const Value& Value::operator[](std::string_view key) const {
  for (const auto& [name, value] : fields()) {
    if (name == key) return value;
  }
  return kNull;
}

const std::string& Value::text(const std::string& otherwise) const {
  const auto* held = std::get_if<std::string>(&data_);
  return held != nullptr ? *held : otherwise;
}

double Value::number(double otherwise) const {
  if (const auto* held = std::get_if<double>(&data_)) return *held;
  if (const auto* held = std::get_if<int64_t>(&data_)) return static_cast<double>(*held);
  if (const auto* held = std::get_if<uint64_t>(&data_)) return static_cast<double>(*held);
  return otherwise;
}

int64_t Value::integer(int64_t otherwise) const {
  if (const auto* held = std::get_if<int64_t>(&data_)) return *held;
  if (const auto* held = std::get_if<uint64_t>(&data_)) return static_cast<int64_t>(*held);
  return otherwise;
}

bool Value::boolean(bool otherwise) const {
  const auto* held = std::get_if<bool>(&data_);
  return held != nullptr ? *held : otherwise;
}

const Value::Array& Value::items() const {
  static const Array none;
  const auto* held = std::get_if<Array>(&data_);
  return held != nullptr ? *held : none;
}

const Value::Object& Value::fields() const {
  static const Object none;
  const auto* held = std::get_if<Object>(&data_);
  return held != nullptr ? *held : none;
}

const std::string& Value::empty_text() {
  static const std::string none;
  return none;
}

}  // namespace pantile::cli
