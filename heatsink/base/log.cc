// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink {
namespace {

struct LevelRow {
  LogLevel level;
  const char* name;
  spdlog::level::level_enum spdlog_level;
};
constexpr std::array<LevelRow, 5> kLevels{{{LogLevel::kDebug, "debug", spdlog::level::debug},
                                           {LogLevel::kInfo, "info", spdlog::level::info},
                                           {LogLevel::kWarning, "warning", spdlog::level::warn},
                                           {LogLevel::kError, "error", spdlog::level::err},
                                           {LogLevel::kOff, "off", spdlog::level::off}}};

const LevelRow& row_of(LogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

// Everything there is one of in a process. Never destroyed: threads may log while it ends.
struct Log {
  Log() : stderr_logger("heatsink", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    stderr_logger.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    stderr_logger.set_level(spdlog::level::trace);  // `level` decides
  }

  std::atomic<LogLevel> level{LogLevel::kInfo};
  spdlog::logger stderr_logger;
  std::mutex mutex;  // guards the members below
  LogSink sink;
  LogLimiter limiter;
};

Log& the_log() {
  static Log& log = *new Log;
  return log;
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
  for (const LevelRow& row : kLevels) {
    if (row.name == text) return row.level;
  }
  return Error{
      ErrorCode::kInvalidArgument,
      "'" + printable(text, 64) + "' is not a log level: write debug, info, warning, error or off"};
}

const char* to_string(LogLevel level) { return row_of(level).name; }

void set_log_level(LogLevel level) { the_log().level.store(level, std::memory_order_relaxed); }

bool is_logged(LogLevel level) { return level >= the_log().level.load(std::memory_order_relaxed); }

void log(LogLevel level, std::string_view message) {
  assert(level != LogLevel::kOff);
  if (!is_logged(level)) return;
  const std::string line = one_line(message, kLogBytesMax);
  Log& log = the_log();
  {
    const std::lock_guard lock(log.mutex);
    if (log.sink) return log.sink(level, line);
  }
  log.stderr_logger.log(row_of(level).spdlog_level, line);
}

void log_limited(LogLevel level, std::string_view key, std::string_view message, TimePoint now) {
  if (!is_logged(level)) return;
  std::optional<std::uint64_t> left_out;
  {
    const std::lock_guard lock(the_log().mutex);
    left_out = the_log().limiter.admit(key, now);
  }
  if (!left_out) return;
  if (*left_out == 0) return log(level, message);
  log(level, std::string(message) + " (and " + std::to_string(*left_out) + " more like it before)");
}

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(the_log().mutex);
  the_log().sink = std::move(sink);
}

LogLimiter::LogLimiter(Nanos interval, std::size_t keys_max)
    : interval_(interval), keys_max_(keys_max) {}

std::optional<std::uint64_t> LogLimiter::admit(std::string_view key, TimePoint now) {
  auto found = events_.find(key);
  if (found == events_.end() && events_.size() >= keys_max_) {
    forget_old(now);
    constexpr std::string_view kShared = "";
    if (events_.size() >= keys_max_) found = events_.find(key = kShared);
  }
  if (found == events_.end()) {
    events_.emplace(key, Event{now});
    return 0;
  }
  Event& event = found->second;
  if (!is_over(event, now)) {
    ++event.left_out;
    return std::nullopt;
  }
  event.logged_at = now;
  return std::exchange(event.left_out, 0);
}

// Those whose interval is over can be forgotten: they would be logged anyway. Only their count of
// what was left out is lost.
void LogLimiter::forget_old(TimePoint now) {
  std::erase_if(events_, [&](const auto& entry) { return is_over(entry.second, now); });
}

}  // namespace heatsink
