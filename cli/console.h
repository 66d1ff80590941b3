#pragma once

#include <pantile/core/error.h>
#include <pantile/core/progress.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/value.h"
#include "cli/verbs.h"

/// The only place that writes to the terminal. stdout carries the result and nothing else; stderr the progress and
/// errors.
namespace pantile::cli {

/// Writes the result: `json` as one document with --json, else `text`. Returns 0, or 3 when stdout cannot take it
/// (a closed pipe, a full disk), after saying so on stderr.
int print_result(const GlobalOptions& global, const Value& json, std::string_view text);
/// `pantile: error: message` on stderr, with the details of the error behind it; returns the exit code that its kind
/// stands for.
int print_error(const GlobalOptions& global, const Error& error);
/// `pantile: message` on stderr unless --quiet.
void print_note(const GlobalOptions& global, std::string_view message);
/// 2 for what the user can change (arguments, files' content), 3 for what the machine refused.
int exit_code(ErrorCode code);

/// Progress on stderr: nothing with --quiet or --json on a pipe; cancelled() is true after Ctrl-C.
std::unique_ptr<Progress> make_cli_progress(const GlobalOptions& global);

/// Text for people: a marked word when colours are on, the word itself otherwise.
enum class Mark { heading, good, warning, bad, faint };
std::string marked(const GlobalOptions& global, Mark mark, std::string_view text);

/// "12 345 678", "3.2 MiB", "1.25 ms", "48.1 %"
std::string with_spaces(int64_t n);
std::string as_bytes(int64_t bytes);
std::string as_seconds(double seconds);
std::string as_percent(double share);

/// Rows of cells under a header, columns aligned: the first column left, numbers right. Colours do not count as width.
class Table {
 public:
  explicit Table(std::vector<std::string> header = {}) : header_(std::move(header)) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// left: all columns are left-aligned (key and value lists).
  std::string text(bool left = false) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace pantile::cli
