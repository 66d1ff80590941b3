#pragma once

#include <string>

namespace pantile::cli {

/// Exit code of a run that Ctrl-C or a TERM signal ended, as shells expect it (128 + SIGINT).
constexpr int kInterruptedExit = 130;

/// From now on Ctrl-C ends the program cleanly: work that watches interrupted() (through Progress::cancelled) gets two
/// seconds to stop by itself, other work is cut at once; either way the temporary files of announced outputs are
/// removed, the files themselves are the old ones or the complete new ones, and stderr says so. A second Ctrl-C does
/// not wait.
void install_interrupt();
/// Takes the signals back after the library installed its own handler (as a Progress does while it lives).
void hold_interrupt();
/// True once the user asked to stop.
bool interrupted();
/// Counts the phases that watch interrupted(): while one lives, Ctrl-C waits for it.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
};
/// Announces an output file, whose temporary file must not outlive an interrupted run.
void remove_on_interrupt(const std::string& path);

}  // namespace pantile::cli
