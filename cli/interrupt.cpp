#include "cli/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace pantile::cli {
namespace {

std::atomic<bool> g_interrupted{false};
std::atomic<int> g_interruptible{0};
int g_pipe[2] = {-1, -1};
constexpr int kGraceMilliseconds = 2000;

/// Never destroyed: the watcher may read it while the program is ending.
struct Outputs {
  std::mutex mutex;
  std::vector<std::string> paths;
};
Outputs& outputs() {
  static auto* all = new Outputs;
  return *all;
}

extern "C" void on_signal(int) {
  const int saved = errno;
  g_interrupted.store(true);
  const char byte = 1;
  static_cast<void>(!::write(g_pipe[1], &byte, 1));
  errno = saved;
}

void say(std::string_view text) { static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size())); }

/// AtomicFile writes to "<name>.<process>.<number>.tmp" beside the output.
void remove_temporary_files() {
  namespace fs = std::filesystem;
  std::lock_guard lock(outputs().mutex);
  for (const std::string& path : outputs().paths) {
    std::error_code ignored;
    const fs::path output(path);
    const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
    const std::string start = output.filename().string() + "." + std::to_string(getpid()) + ".";
    for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
      const std::string name = at->path().filename().string();
      std::error_code unremovable;
      if (name.starts_with(start) && name.ends_with(".tmp")) fs::remove(at->path(), unremovable);
    }
  }
}

void watch() {
  char byte = 0;
  while (::read(g_pipe[0], &byte, 1) < 0 && errno == EINTR) {
  }
  if (g_interruptible.load() > 0) {
    pollfd again{g_pipe[0], POLLIN, 0};
    ::poll(&again, 1, kGraceMilliseconds);
  }
  remove_temporary_files();
  say("\npantile: interrupted; no file was left half-written\n");
  _exit(kInterruptedExit);
}

}  // namespace

void install_interrupt() {
  // A broken pipe on stdout must become an error message, not a silent death.
  ::signal(SIGPIPE, SIG_IGN);
  if (::pipe2(g_pipe, O_CLOEXEC) != 0) return;
  hold_interrupt();
  std::thread(watch).detach();
}

void hold_interrupt() {
  if (g_pipe[1] < 0) return;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current = {};
    // `nohup` and background jobs of shells ignore signals on purpose: leave those alone.
    if (::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
}

bool interrupted() { return g_interrupted.load(); }

Interruptible::Interruptible() { g_interruptible.fetch_add(1); }
Interruptible::~Interruptible() { g_interruptible.fetch_sub(1); }

void remove_on_interrupt(const std::string& path) {
  std::lock_guard lock(outputs().mutex);
  outputs().paths.push_back(path);
}

}  // namespace pantile::cli
