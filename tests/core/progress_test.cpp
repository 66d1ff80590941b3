#include <fcntl.h>
#include <gtest/gtest.h>
#include <pantile/core/log.h>
#include <pantile/core/progress.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace pantile {
namespace {

/// What `work` writes to a descriptor of its own.
template <class Work>
std::string written(Work work) {
  int ends[2] = {};
  if (pipe(ends) != 0) return "no pipe";
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  work(ends[1]);
  close(ends[1]);
  std::string text(1 << 16, '\0');
  const ssize_t n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

TEST(Progress, QuietWritesNothing) {
  EXPECT_EQ(written([](int fd) {
              const auto p = make_progress(ProgressStyle::quiet, fd);
              p->begin("Reading", 10, "edge");
              p->advance(10);
              p->end();
            }),
            "");
}

TEST(Progress, AutomaticWritesPlainLinesWhereThereIsNoTerminal) {
  const std::string text = written([](int fd) {
    const auto p = make_progress(ProgressStyle::automatic, fd);
    p->begin("Training", 200, "epoch");
    p->advance(200);
    p->note("loss 0.25");
    p->end();
  });
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  for (const char* const part : {"Training", "100 %", "200/200 epochs", "loss 0.25"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Progress, BarRedrawsInPlaceAndEndsItsLine) {
  const std::string text = written([](int fd) {
    const auto p = make_progress(ProgressStyle::bar, fd);
    p->begin("Reading", 4, "edge");
    p->advance(2);
    p->end();
  });
  EXPECT_EQ(text.front(), '\r');
  EXPECT_EQ(text.back(), '\n');
  EXPECT_NE(text.find("#-"), std::string::npos) << text;
  EXPECT_NE(text.find(" 50 %"), std::string::npos) << text;
}

TEST(Progress, NoColorLeavesOutColors) {
  setenv("NO_COLOR", "1", 1);
  const std::string plain = written([](int fd) {
    const auto p = make_progress(ProgressStyle::bar, fd);
    p->begin("Reading", 4, "edge");
    p->end();
  });
  unsetenv("NO_COLOR");
  EXPECT_EQ(plain.find("\x1b[1m"), std::string::npos);
}

TEST(Progress, UnknownTotalsShowCountsWithoutShares) {
  const std::string text = written([](int fd) {
    const auto p = make_progress(ProgressStyle::lines, fd);
    p->begin("Scanning", 0, "entry");
    p->advance(12345);
    p->end();
  });
  EXPECT_NE(text.find("12.3k entries"), std::string::npos) << text;
  EXPECT_EQ(text.find('%'), std::string::npos) << text;
}

TEST(Progress, CountsStepsOfAllThreads) {
  const std::string text = written([](int fd) {
    const auto p = make_progress(ProgressStyle::lines, fd);
    p->begin("Working", 4000, "step");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) p->advance(1);
      });
    }
    for (std::thread& t : threads) t.join();
    p->end();
  });
  EXPECT_NE(text.find("4000/4000 steps"), std::string::npos) << text;
}

TEST(Progress, TheFirstInterruptCancelsAndTheOldHandlerComesBack) {
  static std::atomic<int> others{0};
  std::signal(SIGINT, [](int) { ++others; });
  {
    const auto p = make_progress(ProgressStyle::quiet);
    EXPECT_FALSE(p->cancelled());
    raise(SIGINT);
    EXPECT_TRUE(p->cancelled());
    EXPECT_EQ(others, 0);
  }
  raise(SIGINT);
  EXPECT_EQ(others, 1);
  std::signal(SIGINT, SIG_DFL);
  EXPECT_FALSE(make_progress(ProgressStyle::quiet)->cancelled());
}

TEST(Progress, ASecondInterruptEndsTheProgram) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const auto p = make_progress(ProgressStyle::quiet);
        raise(SIGINT);
        raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(Log, GoesNowhereUntilThereIsASink) {
  EXPECT_FALSE(log_enabled(LogLevel::error));
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, const std::string& text) { lines.push_back(text); }, LogLevel::warning);
  log(LogLevel::info, "no");
  log(LogLevel::warning, "yes");
  log(LogLevel::error, "yes as well");
  set_log_sink(nullptr);
  log(LogLevel::error, "gone");
  EXPECT_EQ(lines, (std::vector<std::string>{"yes", "yes as well"}));
}

TEST(Log, ASinkMayLogAndBeReplacedWhileOthersLog) {
  std::atomic<int> calls{0};
  const auto sink = [&](LogLevel level, const std::string&) {
    ++calls;
    if (level == LogLevel::error) log(LogLevel::warning, "from inside");
  };
  set_log_sink(sink);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) log(LogLevel::error, "x");
    });
  }
  for (int i = 0; i < 50; ++i) set_log_sink(sink);
  for (std::thread& t : threads) t.join();
  set_log_sink(nullptr);
  EXPECT_EQ(calls, 3 * 200 * 2);
}

}  // namespace
}  // namespace pantile
