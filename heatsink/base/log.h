// SPDX-License-Identifier: Apache-2.0
// Writes the log: one line per event, on the standard error output or in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

// "debug", "info", "warning", "error", "off". Reads and writes the same words.
Result<LogLevel> parse_log_level(std::string_view text);
const char* to_string(LogLevel level);

enum class LogFormat { kText, kJson };

// All functions below are thread-safe. After a fork() the child logs by a thread of its own.
void set_log_level(LogLevel level);  // kInfo at the start
bool is_logged(LogLevel level);      // one atomic load: ask before building a costly message

// "2026-11-21T12:00:00.123Z warning the server 127.0.0.1:6379 does not answer". Control characters
// and broken UTF-8 are escaped, so that an event is one line whatever is in it; cut after
// kLogBytesMax bytes. A key's name should still go through printable(), which shortens it and
// escapes so that it can be read back. Never waits for the file: a thread of the log's own writes,
// and lines that it cannot write in time are dropped (log_lines_dropped). Takes a lock for a moment
// and allocates: not for the path of a request. REQUIRES level not kOff.
inline constexpr std::size_t kLogBytesMax = 2048;
void log(LogLevel level, std::string_view message);

// For an event that may come a million times (a refused client, a broken reply): at most one line
// per `key` and kLogInterval; the next one says how many were left out. `key` is the kind of event,
// not its data.
inline constexpr Nanos kLogInterval = std::chrono::seconds(10);
void log_limited(LogLevel level, std::string_view key, std::string_view message, TimePoint now);

// The memory of log_limited(). Not thread-safe. At most `keys_max` keys are told apart; while all
// of them are within their interval, further ones share one. O(log keys).
class LogLimiter {
 public:
  explicit LogLimiter(Nanos interval = kLogInterval, std::size_t keys_max = 256);

  // None: leave this one out. Otherwise log it; the number is how many of this key were left out
  // before it.
  std::optional<std::uint64_t> admit(std::string_view key, TimePoint now);

 private:
  struct Event {
    TimePoint logged_at;
    std::uint64_t left_out = 0;
  };
  using Events = std::map<std::string, Event, std::less<>>;

  bool is_over(const Event& event, TimePoint now) const {
    return now - event.logged_at >= interval_;
  }
  void forget_old(TimePoint now);

  Nanos interval_;
  std::size_t keys_max_;
  Events events_;
};

// Writes to this file from now on, "" being stderr, and in this format: text as above, or of each
// event a line of JSON with the members time, level and message. With an error all stays as it was.
Status set_log_output(const std::string& path, LogFormat format);

// Opens the file by its name again, after another program has moved it away; without a file nothing
// happens. With an error lines go where they went before.
Status reopen_log();

// Waits until all lines are written, at most `limit`; whether they are. For the end of a program.
bool flush_log(Nanos limit);

std::uint64_t log_lines_dropped();  // since the start

// Where the lines go, without time and level; an empty function: the log's file again. A sink is
// called with one line at a time and must not log itself. For tests.
using LogSink = std::function<void(LogLevel, std::string_view)>;
void set_log_sink(LogSink sink);

}  // namespace heatsink
