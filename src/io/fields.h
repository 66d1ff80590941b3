#pragma once

#include <pantile/io/file.h>
#include <cstdint>
#include <string>
#include <string_view>

namespace pantile::io {

constexpr int64_t kMostId = int64_t{1} << 62;  ///< ids and counts in text files end below this

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_separator(char c) { return is_blank(c) || c == ',' || c == ';'; }

/// A line cut into numbers from left to right. Never reads behind the line; holds the column (from 1) for messages.
class FieldCursor {
 public:
  FieldCursor() = default;
  explicit FieldCursor(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) { skip_blanks(); }

  bool at_end() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  int column() const { return column_; }

  /// A non-negative decimal integer below kMostId that ends at a separator or the end; false leaves the cursor where it
  /// was.
  bool take_id(int64_t& value) {
    const char* p = at_;
    uint64_t v = 0;
    while (p != end_ && is_digit(*p) && p - at_ < 19) v = v * 10 + static_cast<uint64_t>(*p++ - '0');
    if (p == at_ || v >= static_cast<uint64_t>(kMostId) || (p != end_ && !is_separator(*p))) return false;
    value = static_cast<int64_t>(v);
    leave(p);
    return true;
  }
  /// A decimal number (nan and inf included), correctly rounded; false when the field is none or overflows float32.
  bool take_number(float& value);
  /// Skips the field.
  void skip();
  /// The field's text.
  std::string_view field() const;
  /// An empty field of a comma-separated table.
  bool at_empty_field() const { return at_ == end_ ? pending_ : *at_ == ',' || *at_ == ';'; }
  /// True when a separator promised one more field than the line holds ("1,2,").
  bool trailing_separator() const { return at_ == end_ && pending_; }

 private:
  void skip_blanks() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
  }
  void leave(const char* p) {  // one comma or semicolon with blanks around it, or blanks alone
    at_ = p;
    ++column_;
    skip_blanks();
    pending_ = at_ != end_ && (*at_ == ',' || *at_ == ';');
    if (!pending_) return;
    ++at_;
    skip_blanks();
  }

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  int column_ = 1;
  bool pending_ = false;
};

/// The text in quotes for a message: cut to a readable length, bytes that are not printable ASCII as \xNN.
std::string quoted(std::string_view text);

/// "column 2: 'abc' is not a node id (an integer >= 0)": says as well when it is negative, too large or missing.
std::string bad_id(const FieldCursor& at, const char* what, int64_t smallest);

inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

}  // namespace pantile::io
