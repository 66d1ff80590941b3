#include <pantile/core/log.h>
#include <atomic>
#include <memory>
#include <mutex>

namespace pantile {
namespace {

using Sink = std::function<void(LogLevel, const std::string&)>;
constexpr int kNothing = 100;  // above every level: the state without a sink

struct Target {
  std::mutex mutex;
  std::shared_ptr<const Sink> sink;
  std::atomic<int> at_least{kNothing};
};

Target& target() {
  static Target* const t = new Target;  // never destroyed: threads may still log while static destructors run
  return *t;
}

}  // namespace

void set_log_sink(std::function<void(LogLevel, const std::string&)> sink, LogLevel at_least) {
  Target& t = target();
  std::lock_guard lock(t.mutex);
  const bool some = static_cast<bool>(sink);
  t.sink = some ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
  t.at_least.store(some ? static_cast<int>(at_least) : kNothing, std::memory_order_relaxed);
}

bool log_enabled(LogLevel level) {
  return static_cast<int>(level) >= target().at_least.load(std::memory_order_relaxed);
}

void log(LogLevel level, const std::string& message) {
  if (!log_enabled(level)) return;
  std::shared_ptr<const Sink> sink;
  {
    std::lock_guard lock(target().mutex);
    sink = target().sink;
  }
  if (sink != nullptr) (*sink)(level, message);  // outside the lock, so that a sink may log or replace itself
}

}  // namespace pantile
