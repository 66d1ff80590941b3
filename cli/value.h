#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pantile::cli {

/// One JSON value that a verb builds as its result; object fields keep the order in which they were set. Only json.cpp
/// knows how it is written and read, so that no verb depends on a JSON library.
class Value {
 public:
  using Array = std::vector<Value>;
  using Object = std::vector<std::pair<std::string, Value>>;

  Value() = default;  ///< null
  Value(bool v) : data_(v) {}
  Value(int v) : data_(int64_t{v}) {}
  Value(int64_t v) : data_(v) {}
  Value(uint64_t v) : data_(v) {}
  Value(double v) : data_(v) {}  ///< NaN and infinities are written as null
  Value(std::string v) : data_(std::move(v)) {}
  Value(std::string_view v) : data_(std::string(v)) {}
  Value(const char* v) : data_(std::string(v)) {}
  static Value array(Array items = {}) { return Value(Storage(std::move(items))); }
  static Value object(Object fields = {}) { return Value(Storage(std::move(fields))); }

  /// Object: adds or replaces a field. Returns this, so that calls chain.
  Value& set(std::string_view key, Value v);
  /// Array: appends.
  Value& add(Value v);

  /// Field of an object, or null when this is no object or has no such field.
  const Value& operator[](std::string_view key) const;
  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_object() const { return std::holds_alternative<Object>(data_); }
  /// The value as the asked type, or `otherwise` when it is of another type. number() reads integers too.
  const std::string& text(const std::string& otherwise = empty_text()) const;
  double number(double otherwise = 0) const;
  int64_t integer(int64_t otherwise = 0) const;
  bool boolean(bool otherwise = false) const;
  const Array& items() const;    ///< empty when this is no array
  const Object& fields() const;  ///< empty when this is no object

  /// Calls `visitor` with what is held: std::monostate, bool, int64_t, uint64_t, double, std::string, Array or Object.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), data_);
  }

 private:
  using Storage = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object>;
  explicit Value(Storage data) : data_(std::move(data)) {}
  static const std::string& empty_text();
  Storage data_;
};

}  // namespace pantile::cli
