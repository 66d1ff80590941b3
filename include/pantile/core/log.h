#pragma once

#include <functional>
#include <string>

namespace pantile {

enum class LogLevel { debug, info, warning, error };  ///< least first

/// Where messages of the library go; by default nowhere, because the library never prints. Thread-safe; the sink may be
/// called from several threads at once.
void set_log_sink(std::function<void(LogLevel, const std::string&)> sink, LogLevel at_least = LogLevel::warning);
void log(LogLevel level, const std::string& message);
bool log_enabled(LogLevel level);

}  // namespace pantile
