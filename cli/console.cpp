#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "cli/interrupt.h"
#include "cli/json.h"

namespace pantile::cli {
namespace {

bool colors_on(const GlobalOptions& global, int fd) {
  if (global.color != ColorMode::automatic) return global.color == ColorMode::always;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && !(term != nullptr && std::strcmp(term, "dumb") == 0);
}

std::string painted(Mark mark, std::string_view text) {
  const char* code = "1";
  switch (mark) {
    case Mark::heading:
      code = "1";
      break;
    case Mark::good:
      code = "32";
      break;
    case Mark::warning:
      code = "33";
      break;
    case Mark::bad:
      code = "1;31";
      break;
    case Mark::faint:
      code = "2";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

/// errno of the failure, or 0.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void to_stderr(const std::string& line) { static_cast<void>(write_all(STDERR_FILENO, line)); }

/// Columns that `text` takes on a terminal: escape sequences take none, a UTF-8 character one.
size_t shown_width(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

/// The library's progress, which also knows that the user pressed Ctrl-C.
class CliProgress : public Progress {
 public:
  explicit CliProgress(std::unique_ptr<Progress> shown) : shown_(std::move(shown)) { hold_interrupt(); }
  void begin(const std::string& what, int64_t total, const std::string& unit) override {
    shown_->begin(what, total, unit);
  }
  void advance(int64_t steps) override { shown_->advance(steps); }
  void note(const std::string& text) override { shown_->note(text); }
  void end() override { shown_->end(); }
  bool cancelled() const override { return interrupted() || shown_->cancelled(); }

 private:
  Interruptible interruptible_;
  std::unique_ptr<Progress> shown_;
};

}  // namespace

int print_result(const GlobalOptions& global, const Value& json, std::string_view text) {
  std::string out = global.json ? to_json_text(json) : std::string(text);
  if (!out.empty() && out.back() != '\n') out += '\n';
  const int failure = write_all(STDOUT_FILENO, out);
  if (failure == 0) return 0;
  return print_error(global,
                     {ErrorCode::io, fmt::format("cannot write the result to stdout: {}", std::strerror(failure))});
}

int print_error(const GlobalOptions& global, const Error& error) {
  if (interrupted()) return kInterruptedExit;
  const bool color = colors_on(global, STDERR_FILENO);
  to_stderr(fmt::format("pantile: {} {}\n", color ? painted(Mark::bad, "error:") : "error:", error.message));
  return exit_code(error.code);
}

void print_note(const GlobalOptions& global, std::string_view message) {
  if (!global.quiet) to_stderr(fmt::format("pantile: {}\n", message));
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::out_of_range:
    case ErrorCode::corrupt:
      return 2;
    case ErrorCode::io:
    case ErrorCode::out_of_memory:
    case ErrorCode::unsupported:
    case ErrorCode::internal:
      return 3;
  }
  return 3;
}

std::unique_ptr<Progress> make_cli_progress(const GlobalOptions& global) {
  return std::make_unique<CliProgress>(make_progress(global.quiet ? ProgressStyle::quiet : ProgressStyle::automatic));
}

std::string marked(const GlobalOptions& global, Mark mark, std::string_view text) {
  return colors_on(global, STDOUT_FILENO) ? painted(mark, text) : std::string(text);
}

std::string with_spaces(int64_t n) {
  std::string digits = std::to_string(n);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, 1, ' ');
  return digits;
}

std::string as_bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : 1, kUnits[unit]);
}

std::string as_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.1f} min", seconds / 60);
}

std::string as_percent(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "-"; }

std::string Table::text(bool left) const {
  size_t columns = header_.size();
  for (const auto& row : rows_) columns = std::max(columns, row.size());
  std::vector<size_t> width(columns, 0);
  const auto measure = [&](const std::vector<std::string>& row) {
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], shown_width(row[c]));
  };
  measure(header_);
  for (const auto& row : rows_) measure(row);

  std::string out;
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - shown_width(row[c]), ' ');
      if (c != 0) line += "  ";
      line += left || c == 0 ? row[c] + pad : pad + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  if (!header_.empty()) print(header_);
  for (const auto& row : rows_) print(row);
  return out;
}

}  // namespace pantile::cli
