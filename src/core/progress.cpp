#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <pantile/core/progress.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace pantile {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t g_interrupted = 0;

void on_interrupt(int) {
  if (g_interrupted != 0) {  // a second Ctrl-C means now
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  g_interrupted = 1;
}

/// Holds SIGINT while at least one Progress lives. A program started with SIGINT ignored keeps ignoring it.
class InterruptGuard {
 public:
  InterruptGuard() {
    std::lock_guard lock(mutex());
    if (count()++ > 0) return;
    g_interrupted = 0;
    struct sigaction now = {};
    sigaction(SIGINT, nullptr, &before());
    if (before().sa_handler == SIG_IGN) return;
    now.sa_handler = on_interrupt;
    sigemptyset(&now.sa_mask);
    sigaction(SIGINT, &now, nullptr);
  }
  ~InterruptGuard() {
    std::lock_guard lock(mutex());
    if (--count() == 0) sigaction(SIGINT, &before(), nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static int& count() {
    static int n = 0;
    return n;
  }
  static struct sigaction& before() {
    static struct sigaction action = {};
    return action;
  }
};

std::string short_number(double v) {
  for (const auto& [from, letter] : {std::pair{1e9, 'G'}, std::pair{1e6, 'M'}, std::pair{1e4, 'k'}}) {
    if (v >= from) return fmt::format("{:.1f}{}", v / (letter == 'k' ? 1e3 : from), letter);
  }
  return v >= 100 || v == static_cast<double>(static_cast<int64_t>(v)) ? fmt::format("{:.0f}", v)
                                                                       : fmt::format("{:.1f}", v);
}

std::string duration(double seconds) {
  const int64_t s = static_cast<int64_t>(std::clamp(seconds, 0.0, 3.6e8) + 0.5);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

std::string plural(const std::string& unit) {
  if (unit.empty() || unit.back() == 's') return unit;
  return unit.back() == 'y' ? unit.substr(0, unit.size() - 1) + "ies" : unit + "s";
}

class StreamProgress final : public Progress {
 public:
  StreamProgress(ProgressStyle style, int fd) : style_(style), fd_(fd), color_(std::getenv("NO_COLOR") == nullptr) {}
  ~StreamProgress() override { end(); }

  void begin(const std::string& what, int64_t total, const std::string& unit) override {
    end();
    std::lock_guard lock(mutex_);
    what_ = what;
    unit_ = unit;
    note_.clear();
    total_ = total;
    done_.store(0, std::memory_order_relaxed);
    start_ = Clock::now();
    next_.store(style_ == ProgressStyle::bar ? 0 : ticks(start_ + kLinesEvery), std::memory_order_relaxed);
    running_ = true;
  }

  void advance(int64_t steps) override {
    done_.fetch_add(steps, std::memory_order_relaxed);
    if (style_ == ProgressStyle::quiet) return;
    const Clock::time_point now = Clock::now();
    if (ticks(now) < next_.load(std::memory_order_relaxed)) return;
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || !running_) return;  // another thread is drawing
    next_.store(ticks(now + (style_ == ProgressStyle::bar ? kBarEvery : kLinesEvery)), std::memory_order_relaxed);
    draw(now, false);
  }

  void note(const std::string& text) override {
    std::lock_guard lock(mutex_);
    note_ = text;
  }

  void end() override {
    std::lock_guard lock(mutex_);
    if (!running_) return;
    running_ = false;
    if (style_ != ProgressStyle::quiet) draw(Clock::now(), true);
  }

  bool cancelled() const override { return g_interrupted != 0; }

 private:
  static constexpr Clock::duration kBarEvery = std::chrono::milliseconds(100), kLinesEvery = std::chrono::seconds(3);
  static int64_t ticks(Clock::time_point t) { return t.time_since_epoch().count(); }

  void draw(Clock::time_point now, bool last) {
    const int64_t done = done_.load(std::memory_order_relaxed);
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
    std::string tail = total_ > 0 ? fmt::format("{}/{} {}", short_number(static_cast<double>(done)),
                                                short_number(static_cast<double>(total_)), plural(unit_))
                                  : fmt::format("{} {}", short_number(static_cast<double>(done)), plural(unit_));
    if (seconds >= 0.2) tail += fmt::format("  {} {}/s", short_number(rate), unit_);  // before that the rate is noise
    if (last) tail += fmt::format("  {:.1f} s", seconds);
    if (!last && total_ > 0 && rate > 0 && seconds >= 0.2) {
      tail += fmt::format("  {} left", duration(static_cast<double>(std::max<int64_t>(total_ - done, 0)) / rate));
    }
    if (!note_.empty()) tail += "  " + note_;
    const double share = total_ > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0) : 0;
    if (style_ == ProgressStyle::lines) {
      put(total_ > 0 ? fmt::format("{}  {:3.0f} %  {}\n", what_, share * 100, tail)
                     : fmt::format("{}  {}\n", what_, tail));
      return;
    }
    const size_t width = columns();
    std::string bar;
    if (total_ > 0) {
      constexpr size_t kBarWidth = 24;
      const size_t filled = static_cast<size_t>(share * kBarWidth + 0.5);
      bar = fmt::format("[{}{}] {:3.0f} %  ", std::string(filled, '#'), std::string(kBarWidth - filled, '-'),
                        share * 100);
    }
    std::string line = fmt::format("{}  {}{}", what_, bar, tail);
    if (line.size() >= width) line.resize(width - 1);  // a wrapped line could not be redrawn in place
    if (color_ && line.size() > what_.size()) line = "\x1b[1m" + what_ + "\x1b[0m" + line.substr(what_.size());
    put("\r" + line + "\x1b[K" + (last ? "\n" : ""));
  }

  size_t columns() const {
    winsize size = {};
    return ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 ? size.ws_col : 80;
  }

  void put(const std::string& text) const {
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = ::write(fd_, text.data() + at, text.size() - at);
      if (n <= 0) return;  // progress is a courtesy: a closed terminal must not stop the work
      at += static_cast<size_t>(n);
    }
  }

  const ProgressStyle style_;
  const int fd_;
  const bool color_;
  const InterruptGuard guard_;
  std::mutex mutex_;
  std::string what_, unit_, note_;
  int64_t total_ = 0;
  std::atomic<int64_t> done_{0}, next_{0};
  Clock::time_point start_;
  bool running_ = false;
};

}  // namespace

std::unique_ptr<Progress> make_progress(ProgressStyle style, int fd) {
  if (style == ProgressStyle::automatic) {
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
    style = isatty(fd) == 1 && !dumb ? ProgressStyle::bar : ProgressStyle::lines;
  }
  return std::make_unique<StreamProgress>(style, fd);
}

}  // namespace pantile
