#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cli/value.h"

namespace pantile::cli {

/// What a run read, wrote, found and spent: the material of its manifest. Thread-safe.
class RunRecord {
 public:
  /// A file or folder that the run reads.
  void input(const std::string& path);
  /// A file that the run is going to write; call it before writing, so that Ctrl-C knows which temporary file to
  /// remove.
  void output(const std::string& path);
  /// A result that a replay must find again, such as a fingerprint or a hash of predictions: equal or the replay fails.
  void result(const std::string& name, const std::string& value);
  void timing(const std::string& phase, double seconds);
  void plan(Value plan);
  void seed(uint64_t seed);

  std::vector<std::string> inputs() const;
  std::vector<std::string> outputs() const;
  Value results() const;
  Value timings() const;
  Value plan() const;
  Value seed() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> inputs_, outputs_;
  Value results_ = Value::object(), timings_ = Value::object(), plan_, seed_;
};

}  // namespace pantile::cli
