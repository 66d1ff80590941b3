#include <pantile/core/error.h>

namespace pantile {

const char* name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::out_of_range:
      return "out_of_range";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::io:
      return "io";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

Error Error::within(const std::string& prefix) const { return {code, prefix + ": " + message, details}; }

}  // namespace pantile
