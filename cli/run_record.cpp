#include "cli/run_record.h"

#include "cli/interrupt.h"

namespace pantile::cli {

void RunRecord::input(const std::string& path) {
  std::lock_guard lock(mutex_);
  inputs_.push_back(path);
}

void RunRecord::output(const std::string& path) {
  std::lock_guard lock(mutex_);
  outputs_.push_back(path);
  remove_on_interrupt(path);
}

void RunRecord::result(const std::string& name, const std::string& value) {
  std::lock_guard lock(mutex_);
  results_.set(name, value);
}

void RunRecord::timing(const std::string& phase, double seconds) {
  std::lock_guard lock(mutex_);
  timings_.set(phase, seconds);
}

void RunRecord::plan(Value plan) {
  std::lock_guard lock(mutex_);
  plan_ = std::move(plan);
}

void RunRecord::seed(uint64_t seed) {
  std::lock_guard lock(mutex_);
  seed_ = seed;
}

std::vector<std::string> RunRecord::inputs() const {
  std::lock_guard lock(mutex_);
  return inputs_;
}

std::vector<std::string> RunRecord::outputs() const {
  std::lock_guard lock(mutex_);
  return outputs_;
}

Value RunRecord::results() const {
  std::lock_guard lock(mutex_);
  return results_;
}

Value RunRecord::timings() const {
  std::lock_guard lock(mutex_);
  return timings_;
}

Value RunRecord::plan() const {
  std::lock_guard lock(mutex_);
  return plan_;
}

Value RunRecord::seed() const {
  std::lock_guard lock(mutex_);
  return seed_;
}

}  // namespace pantile::cli
