#include <gtest/gtest.h>
#include <pantile/core/thread_pool.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#if defined(__SANITIZE_THREAD__)
// The test below starts threads in a forked child on purpose; TSan would end the child at once.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace pantile {
namespace {

class ThreadPool : public testing::Test {
 protected:
  ~ThreadPool() override { set_num_threads(0); }
};

TEST_F(ThreadPool, EveryShareRunsExactlyOnce) {
  for (const int threads : {1, 2, 3, 7, 16, 64}) {
    set_num_threads(threads);
    for (const int shares : {0, 1, 2, 5, 16, 63, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(shares));
      run_shares(shares, [&](int s) { ++runs[static_cast<size_t>(s)]; });
      for (const auto& n : runs) EXPECT_EQ(n, 1) << threads << " threads, " << shares << " shares";
    }
  }
}

TEST_F(ThreadPool, ManyShortCallsInARowAllFinish) {
  set_num_threads(4);
  std::atomic<int64_t> sum{0};
  for (int call = 0; call < 3000; ++call) run_shares(4, [&](int s) { sum += s; });
  EXPECT_EQ(sum, 3000 * 6);
}

TEST_F(ThreadPool, ParkedWorkersWakeUp) {
  set_num_threads(3);
  for (int call = 0; call < 20; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> runs{0};
    run_shares(3, [&](int) { ++runs; });
    EXPECT_EQ(runs, 3);
  }
}

TEST_F(ThreadPool, NestedCallsRunInsideTheirShare) {
  set_num_threads(4);
  std::vector<std::atomic<int>> runs(8 * 5);
  std::atomic<int> strangers{0};
  run_shares(8, [&](int outer) {
    const auto me = std::this_thread::get_id();
    run_shares(5, [&](int inner) {
      if (std::this_thread::get_id() != me) ++strangers;
      ++runs[static_cast<size_t>(outer * 5 + inner)];
    });
  });
  for (const auto& n : runs) EXPECT_EQ(n, 1);
  EXPECT_EQ(strangers, 0);
}

TEST_F(ThreadPool, ConcurrentCallersTakeTurns) {
  set_num_threads(3);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([&] {
      for (int call = 0; call < 200; ++call) {
        int64_t mine[7] = {};
        run_shares(7, [&](int s) { mine[s] = s + 1; });
        total += std::accumulate(std::begin(mine), std::end(mine), int64_t{0});
      }
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(total, 6 * 200 * 28);
}

TEST_F(ThreadPool, ChangingTheNumberOfThreadsWhileOthersCallIsSafe) {
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int n = 1; !stop; n = n % 5 + 1) set_num_threads(n);
  });
  std::atomic<int64_t> sum{0};
  for (int call = 0; call < 200; ++call) parallel_for(100, 7, [&](int64_t begin, int64_t end) { sum += end - begin; });
  stop = true;
  changer.join();
  EXPECT_EQ(sum, 200 * 100);
}

TEST_F(ThreadPool, WorksAgainInAForkedChild) {
  set_num_threads(3);
  std::atomic<int> before{0};
  run_shares(3, [&](int) { ++before; });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // a deadlock ends the child, not the test run
    std::atomic<int> runs{0};
    run_shares(9, [&](int) { ++runs; });
    _exit(runs == 9 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  run_shares(3, [&](int) { ++before; });
  EXPECT_EQ(before, 6);
}

TEST_F(ThreadPool, ChunksCoverTheRangeAndDependOnTheGrainAlone) {
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{6}, int64_t{7}, int64_t{8}, int64_t{1000}}) {
    for (const int threads : {1, 2, 5}) {
      set_num_threads(threads);
      std::vector<std::atomic<int>> covered(static_cast<size_t>(n));
      std::atomic<int> wrong{0};
      parallel_for(n, 7, [&](int64_t begin, int64_t end) {
        if (begin % 7 != 0 || end != std::min(n, begin + 7)) ++wrong;
        for (int64_t i = begin; i < end; ++i) ++covered[static_cast<size_t>(i)];
      });
      EXPECT_EQ(wrong, 0);
      for (const auto& c : covered) EXPECT_EQ(c, 1);
    }
  }
}

TEST_F(ThreadPool, AGrainBelowOneCountsAsOne) {
  std::atomic<int> calls{0};
  parallel_for(5, 0, [&](int64_t begin, int64_t end) { calls += static_cast<int>(end - begin == 1); });
  EXPECT_EQ(calls, 5);
}

TEST_F(ThreadPool, CostRangesCoverAllItemsOnceAndBalance) {
  set_num_threads(4);
  std::vector<int64_t> prefix = {100};  // a prefix need not start at zero
  for (int i = 0; i < 1000; ++i) prefix.push_back(prefix.back() + (i % 10 == 0 ? 50 : 1));
  std::vector<std::atomic<int>> covered(1000);
  std::atomic<int64_t> largest{0};
  parallel_by_cost(prefix, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) ++covered[static_cast<size_t>(i)];
    const int64_t cost = prefix[static_cast<size_t>(last)] - prefix[static_cast<size_t>(first)];
    for (int64_t seen = largest; cost > seen && !largest.compare_exchange_weak(seen, cost);) {
    }
  });
  for (const auto& c : covered) EXPECT_EQ(c, 1);
  EXPECT_LE(largest, (prefix.back() - 100) / 4 + 100);
}

TEST_F(ThreadPool, CostRangesOfNothingOrOfZeroCostAreFine) {
  set_num_threads(4);
  parallel_by_cost({}, [](int64_t, int64_t) { FAIL(); });
  const std::vector<int64_t> one = {0};
  parallel_by_cost(one, [](int64_t, int64_t) { FAIL(); });
  const std::vector<int64_t> flat(11, 3);
  std::atomic<int64_t> items{0};
  parallel_by_cost(flat, [&](int64_t first, int64_t last) { items += last - first; });
  EXPECT_EQ(items, 10);
}

TEST_F(ThreadPool, NumberOfThreadsIsClampedAndResets) {
  set_num_threads(5);
  EXPECT_EQ(num_threads(), 5);
  set_num_threads(1 << 30);
  EXPECT_EQ(num_threads(), 1024);
  set_num_threads(-1);
  EXPECT_GE(num_threads(), 1);
}

}  // namespace
}  // namespace pantile
