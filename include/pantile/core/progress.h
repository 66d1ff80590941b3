#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace pantile {

/// Shows long work on stderr: a bar with rate and remaining time on a terminal, a plain line every few seconds
/// otherwise, nothing when quiet. Only programs (cli, python) make visible ones; the library takes a Progress* that may
/// be null. Thread-safe: advance() may be called from any thread.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Starts a phase of `total` steps (0: unknown), counted in `unit` ("edge", "epoch").
  virtual void begin(const std::string& what, int64_t total, const std::string& unit) = 0;
  virtual void advance(int64_t steps) = 0;
  /// Extra text behind the bar, such as the current loss.
  virtual void note(const std::string& text) = 0;
  virtual void end() = 0;
  /// True once the user asked to stop (Ctrl-C); long loops test it between steps.
  virtual bool cancelled() const { return false; }
};

/// style: automatic looks at whether the output is a terminal that can redraw a line. NO_COLOR is honoured.
enum class ProgressStyle { automatic, bar, lines, quiet };
/// Writes to file descriptor `fd` (stderr). While any of these lives, the first Ctrl-C only makes cancelled() true and
/// a second one ends the program as usual; for programs, not for libraries inside another one's process.
std::unique_ptr<Progress> make_progress(ProgressStyle style, int fd = 2);

}  // namespace pantile
