#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <pantile/core/thread_pool.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace pantile {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kSpins = 2000;  // a few microseconds: back-to-back operations then never pay for waking a thread

int from_environment(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  const int n = std::atoi(text);
  return n >= 1 && n <= kMaxThreads ? n : 0;
}

int default_threads() {
  if (const int n = from_environment("PANTILE_NUM_THREADS")) return n;
  if (const int n = from_environment("OMP_NUM_THREADS")) return n;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

std::atomic<int> g_requested{0};
thread_local bool t_inside = false;

/// Invariants: (1) workers 1..n-1 wait for `generation_` to move; (2) one job at a time, held by `caller_`;
/// (3) a job is over when every worker has answered its generation, so `body` outlives its use.
class Pool {
 public:
  explicit Pool(int threads) : requested_(threads) {
    // A system that refuses further threads gives fewer; the results do not depend on their number.
    try {
      for (int i = 1; i < threads; ++i) {
        std::lock_guard lock(mutex_);
        workers_.emplace_back([this, i] { work(i); });
        threads_ = i + 1;
      }
    } catch (const std::system_error&) {
    }
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& t : workers_) t.join();
  }
  int requested() const { return requested_; }

  void run(int shares, FunctionRef<void(int)> body) {
    {
      std::lock_guard lock(mutex_);
      shares_ = shares;
      body_ = &body;
      pending_.store(threads_ - 1, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    t_inside = true;
    for (int s = 0; s < shares; s += threads_) body(s);
    t_inside = false;
    for (int spin = 0; pending_.load(std::memory_order_acquire) != 0; ++spin) {
      if (spin < kSpins) continue;
      std::unique_lock lock(mutex_);
      done_.wait(lock, [this] { return pending_.load(std::memory_order_acquire) == 0; });
    }
  }

 private:
  void work(int index) {
    t_inside = true;
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && generation_.load(std::memory_order_acquire) == seen; ++spin) {
      }
      if (generation_.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return generation_.load(std::memory_order_acquire) != seen; });
      }
      int shares = 0, threads = 1;
      FunctionRef<void(int)>* body = nullptr;
      {
        std::lock_guard lock(mutex_);
        seen = generation_.load(std::memory_order_acquire);
        if (stop_) return;
        shares = shares_;
        threads = threads_;
        body = body_;
      }
      for (int s = index; s < shares; s += threads) (*body)(s);
      if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        std::lock_guard lock(
            mutex_);  // pairs with the caller's wait: without it the wake-up could fall between test and sleep
        done_.notify_one();
      }
    }
  }

  const int requested_;
  int threads_ = 1;  // the caller's and those of workers_
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> pending_{0};
  int shares_ = 0;
  FunctionRef<void(int)>* body_ = nullptr;
  bool stop_ = false;
};

/// What compiled OpenMP code calls in GCC's runtime (GCC 4.9 and newer), and two functions of the OpenMP standard.
struct OpenMp {
  void (*parallel)(void (*)(void*), void*, unsigned threads, unsigned flags) = nullptr;
  int (*thread)() = nullptr;
  int (*threads)() = nullptr;
  explicit operator bool() const { return parallel != nullptr && thread != nullptr && threads != nullptr; }
};
OpenMp find_openmp() {
  void* library = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return {};
  OpenMp found;
  found.parallel = reinterpret_cast<decltype(found.parallel)>(dlsym(library, "GOMP_parallel"));
  found.thread = reinterpret_cast<decltype(found.thread)>(dlsym(library, "omp_get_thread_num"));
  found.threads = reinterpret_cast<decltype(found.threads)>(dlsym(library, "omp_get_num_threads"));
  return found ? found : OpenMp();
}
OpenMp g_openmp;  // written before g_borrowed becomes true
std::atomic<bool> g_borrowed{false};

void run_borrowed(int threads, int shares, FunctionRef<void(int)> body) {
  struct Job {
    int shares;
    FunctionRef<void(int)>* body;
  } job{shares, &body};
  g_openmp.parallel(
      [](void* data) {
        const Job& j = *static_cast<Job*>(data);
        t_inside = true;
        // A team may be smaller than was asked for, down to one inside another parallel region.
        for (int s = g_openmp.thread(); s < j.shares; s += g_openmp.threads()) (*j.body)(s);
        t_inside = false;
      },
      &job, static_cast<unsigned>(std::min(threads, shares)), 0);
}

/// The process's pool; made on first use, remade when the number of threads changes, abandoned in a forked child (its
/// threads do not exist there and its mutexes may be held for ever).
struct Home {
  std::mutex caller;
  std::unique_ptr<Pool> pool;
};
Home* g_home = nullptr;

Home& home() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_home = new Home;  // never destroyed: workers may still be parked when static destructors run
    pthread_atfork(nullptr, nullptr, [] {
      g_home = new Home;
      g_borrowed = false;  // the team's threads did not survive the fork, and its runtime does not know
      t_inside = false;
    });
  });
  return *g_home;
}

}  // namespace

int num_threads() {
  const int requested = g_requested.load(std::memory_order_relaxed);
  if (requested > 0) return requested;
  static const int by_default = default_threads();
  return by_default;
}

void set_num_threads(int n) { g_requested.store(n <= 0 ? 0 : std::min(n, kMaxThreads), std::memory_order_relaxed); }

bool borrow_openmp_threads() {
  static const OpenMp found = find_openmp();
  if (!found) return false;
  home();  // its handler ends the loan in a forked child
  g_openmp = found;
  g_borrowed.store(true, std::memory_order_release);
  return true;
}

void run_shares(int shares, FunctionRef<void(int)> body) {
  const int threads = num_threads();
  if (shares <= 1 || threads <= 1 || t_inside) {
    for (int s = 0; s < shares; ++s) body(s);
    return;
  }
  Home& h = home();
  if (g_borrowed.load(std::memory_order_acquire)) return run_borrowed(threads, shares, body);
  std::lock_guard lock(h.caller);
  if (h.pool == nullptr || h.pool->requested() != threads) {
    h.pool.reset();
    h.pool = std::make_unique<Pool>(threads);
  }
  h.pool->run(shares, body);
}

void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t chunks = (n - 1) / grain + 1;
  const int shares = static_cast<int>(std::min<int64_t>(num_threads(), chunks));
  run_shares(shares, [&](int s) {
    for (int64_t c = chunks * s / shares; c < chunks * (s + 1) / shares; ++c)
      body(c * grain, std::min(n, (c + 1) * grain));
  });
}

void parallel_by_cost(std::span<const int64_t> cost_prefix, FunctionRef<void(int64_t, int64_t)> body) {
  const int64_t items = static_cast<int64_t>(cost_prefix.size()) - 1;
  if (items <= 0) return;
  const int shares = static_cast<int>(std::min<int64_t>(num_threads(), items));
  const int64_t base = cost_prefix.front(), total = cost_prefix.back() - base;
  const auto cut = [&](int s) -> int64_t {
    if (s == 0) return 0;
    if (s == shares) return items;
    const int64_t goal = base + static_cast<int64_t>(static_cast<__int128>(total) * s / shares);
    return std::lower_bound(cost_prefix.begin(), cost_prefix.end() - 1, goal) - cost_prefix.begin();
  };
  run_shares(shares, [&](int s) {
    const int64_t first = cut(s), last = cut(s + 1);
    if (first < last) body(first, last);
  });
}

}  // namespace pantile
