// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/log.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "heatsink/base/log_writer.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"

namespace heatsink {
namespace {

constexpr std::array<const char*, 5> kLevels{"debug", "info", "warning", "error", "off"};

// How long the program's end waits for a slow log.
constexpr Nanos kLastLines = Millis(200);

// The process-wide state. Never destroyed: threads may log until the process ends.
struct Log {
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::mutex mutex;  // guards the members below, except the target of `writer`
  LogSink sink;
  LogLimiter limiter;
  std::string path;  // "": stderr
  LogOutput output{LogFile::standard_error()};
  LogWriter* writer = new LogWriter(output);
};

Log& the_log();

// Keeps the mutex free in a child of fork(), whatever other threads did; the writer's thread does
// not exist there.
void before_fork() { the_log().mutex.lock(); }
void after_fork() { the_log().mutex.unlock(); }
void after_fork_in_child() {
  the_log().writer = new LogWriter(the_log().output);
  the_log().mutex.unlock();
}

Log& the_log() {
  static Log& log = []() -> Log& {
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
    std::atexit([] { flush_log(kLastLines); });
    return *new Log;
  }();
  return log;
}

LogWriter& the_writer() {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  return *log.writer;
}

void log_if_admitted(LogLevel level, std::string_view key, std::string_view message, TimePoint now,
                     LogLimiter::LeftOut left_out) {
  log_summaries(now);
  if (!is_logged(level)) return;
  bool is_admitted = false;
  {
    const std::lock_guard lock(the_log().mutex);
    is_admitted = the_log().limiter.admit(key, level, message, now, left_out);
  }
  if (is_admitted) log(level, message);
}

}  // namespace

const char* to_string(LogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

void set_log_level(LogLevel level) { the_log().level.store(level, std::memory_order_relaxed); }

bool is_logged(LogLevel level) { return level >= the_log().level.load(std::memory_order_relaxed); }

void log(LogLevel level, std::string_view message) {
  assert(level != LogLevel::kOff);
  if (!is_logged(level)) return;
  std::string line = one_line(message, kLogBytesMax);
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  if (log.sink) return log.sink(level, line);
  log.writer->add({level, std::chrono::system_clock::now(), std::move(line)});
}

void log_limited(LogLevel level, std::string_view key, std::string_view message, TimePoint now) {
  log_if_admitted(level, key, message, now, LogLimiter::LeftOut::kCounted);
}

void log_once(LogLevel level, std::string_view key, std::string_view message, TimePoint now) {
  log_if_admitted(level, key, message, now, LogLimiter::LeftOut::kForgotten);
}

void log_summaries(TimePoint now) {
  std::vector<LogLimiter::Summary> summaries;
  {
    const std::lock_guard lock(the_log().mutex);
    summaries = the_log().limiter.take_summaries(now);
  }
  for (const LogLimiter::Summary& summary : summaries)
    log(summary.level, std::to_string(summary.left_out) + " more like this in the last " +
                           format_duration(kLogInterval) + ": " + summary.message);
}

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(the_log().mutex);
  the_log().sink = std::move(sink);
}

Status set_log_output(const std::string& path, LogFormat format) {
  LogOutput output{LogFile::standard_error(), format};
  if (!path.empty()) {
    Result<std::shared_ptr<const LogFile>> file = LogFile::open(path);
    if (!file.ok()) return file.error();
    output.file = std::move(file).value();
  }
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.path = path;
  log.writer->set_output(output);
  std::swap(log.output, output);  // closes the old file without holding the lock
  return Unit{};
}  // it does not follow the shared_ptr

Status reopen_log() {
  std::string path;
  LogFormat format = LogFormat::kText;
  {
    const std::lock_guard lock(the_log().mutex);
    path = the_log().path;
    format = the_log().output.format;
  }
  return path.empty() ? Status(Unit{}) : set_log_output(path, format);
}

bool flush_log(Nanos limit) { return the_writer().flush(limit); }

std::size_t log_bytes_waiting() { return the_writer().waiting_bytes(); }

std::uint64_t log_lines_dropped() { return the_writer().dropped(); }

LogLimiter::LogLimiter(Nanos interval, std::size_t keys_max)
    : interval_(interval), keys_max_(keys_max) {}

bool LogLimiter::admit(std::string_view key, LogLevel level, std::string_view message,
                       TimePoint now, LeftOut left_out) {
  constexpr std::size_t kMessageBytes = 256;
  auto found = events_.find(key);
  if (found == events_.end() && events_.size() >= keys_max_) {
    forget_old(now);
    constexpr std::string_view kShared = "";
    if (events_.size() >= keys_max_) found = events_.find(key = kShared);
  }
  const Event logged{now, level, std::string(message.substr(0, kMessageBytes))};
  if (found == events_.end()) {
    events_.emplace(key, logged);
    return true;
  }
  Event& event = found->second;
  if (is_over(event, now)) {
    event = logged;
    return true;
  }
  if (left_out == LeftOut::kForgotten) return false;
  ++event.left_out;
  look_at_ = std::min(look_at_, event.logged_at + interval_);
  return false;
}

std::vector<LogLimiter::Summary> LogLimiter::take_summaries(TimePoint now) {
  std::vector<Summary> summaries;
  if (now < look_at_) return summaries;
  look_at_ = TimePoint::max();
  for (auto& [key, event] : events_) {
    if (event.left_out == 0) continue;
    if (is_over(event, now)) {
      summaries.push_back({event.level, event.message, std::exchange(event.left_out, 0)});
    } else {
      look_at_ = std::min(look_at_, event.logged_at + interval_);
    }
  }
  return summaries;
}

// Keys whose interval is over can be dropped, because they would be logged anyway.
void LogLimiter::forget_old(TimePoint now) {
  std::erase_if(events_, [&](const auto& entry) { return is_over(entry.second, now); });
}

}  // namespace heatsink
