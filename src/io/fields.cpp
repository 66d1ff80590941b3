#include "io/fields.h"

#include <fmt/format.h>

#include <charconv>

namespace pantile::io {

std::string_view FieldCursor::field() const {
  const char* p = at_;
  while (p != end_ && !is_separator(*p)) ++p;
  return {at_, static_cast<size_t>(p - at_)};
}

void FieldCursor::skip() { leave(at_ + field().size()); }

bool FieldCursor::take_number(float& value) {
  const char* const first = at_ != end_ && *at_ == '+' ? at_ + 1 : at_;
  if (first != at_ && first != end_ && *first == '-') return false;  // "+-1"
  float parsed = 0;
  const auto [p, code] = std::from_chars(first, end_, parsed);
  if (p != end_ && !is_separator(*p)) return false;
  if (code == std::errc::result_out_of_range) {
    // Too large is an error; too small is the nearest representable number. from_chars does not say which of the two it
    // was.
    double wide = 0;
    if (std::from_chars(first, end_, wide).ec != std::errc() || wide >= 1 || wide <= -1) return false;
    parsed = static_cast<float>(wide);
  } else if (code != std::errc()) {
    return false;
  }
  value = parsed;
  leave(p);
  return true;
}

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 40;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out + (text.size() > kShown ? "...'" : "'");
}

std::string bad_id(const FieldCursor& at, const char* what, int64_t smallest) {
  if (at.at_end()) return fmt::format("column {}: {} is missing", at.column(), what);
  const std::string_view text = at.field();
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  return fmt::format("column {}: {} is not {} (an integer from {} {})", at.column(), quoted(text), what, smallest,
                     digits ? "to 2^62 - 1" : "on");
}

}  // namespace pantile::io
