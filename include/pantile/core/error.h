#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace pantile {

/// What kind of trouble an Error reports. Bindings map each kind to one exception class and the command line to one
/// exit code.
enum class ErrorCode {
  invalid_argument,  ///< a value, shape or option that is not allowed (Python: ValueError; exit 2)
  out_of_range,      ///< an index outside its table (Python: IndexError; exit 2)
  corrupt,           ///< a file or buffer that does not follow its format (Python: ValueError; exit 2)
  io,                ///< the operating system refused a file operation (Python: OSError; exit 3)
  out_of_memory,     ///< the work does not fit in memory (Python: MemoryError; exit 3)
  unsupported,       ///< legal, but not done by this build or machine (Python: RuntimeError; exit 3)
  internal,          ///< a broken promise of Pantile itself (Python: RuntimeError; exit 3)
};

/// Stable lower-case name of a code, such as "out_of_range".
const char* name(ErrorCode code);

/// A value that matters to an error: which table, row, file offset, limit.
struct ErrorDetail {
  std::string key;
  std::string value;
};

/// An error is a value. The message says what was wrong, where, what was allowed, and the smallest change that would
/// fit.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::vector<ErrorDetail> details = {};

  /// The same error with `prefix: ` put before the message, for callers that know more about the place.
  [[nodiscard]] Error within(const std::string& prefix) const;
};

/// Every fallible public function returns Result<T>; exceptions live only in bindings.
template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// `return fail(ErrorCode::io, fmt::format(...));`
[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                std::vector<ErrorDetail> details = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(details)});
}

#define PANTILE_CONCAT_INNER(a, b) a##b
#define PANTILE_CONCAT(a, b) PANTILE_CONCAT_INNER(a, b)

/// PANTILE_TRY(auto graph, read_graph(path)); — declares `graph`, or returns the error to the caller.
#define PANTILE_TRY(declaration, expression) \
  PANTILE_TRY_INNER(PANTILE_CONCAT(pantile_try_, __LINE__), declaration, expression)
#define PANTILE_TRY_INNER(temporary, declaration, expression)                              \
  auto temporary = (expression);                                                           \
  if (!temporary) return ::tl::unexpected<::pantile::Error>(std::move(temporary.error())); \
  declaration = std::move(*temporary)

/// PANTILE_CHECK(validate(x)); — returns the error of a Status or Result to the caller, drops the value.
#define PANTILE_CHECK(expression)                                                                      \
  do {                                                                                                 \
    auto pantile_status = (expression);                                                                \
    if (!pantile_status) return ::tl::unexpected<::pantile::Error>(std::move(pantile_status.error())); \
  } while (false)

}  // namespace pantile
