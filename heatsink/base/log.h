// SPDX-License-Identifier: Apache-2.0
// Writes the log: one line per event, on the standard error output or in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError, kOff };

// "debug", "info", "warning", "error", "off".
const char* to_string(LogLevel level);

enum class LogFormat : std::uint8_t { kText, kJson };

// All functions below are thread-safe. After a fork() the child logs with a thread of its own.
void set_log_level(LogLevel level);  // kInfo at the start
bool is_logged(LogLevel level);      // one atomic load: check it before building a costly message

// Writes a line such as "2026-11-21T12:00:00.123Z warning the server 127.0.0.1:6379 does not
// answer". Escapes control characters and invalid UTF-8, so that an event is always one line; cuts
// it after kLogBytesMax bytes. Pass key names through printable() before: it shortens them, and its
// escapes can be read back. Never waits for the file: the log's own thread writes, and lines that
// it cannot write in time are dropped (log_lines_dropped). Takes a short lock and allocates: do not
// use it on the request path. REQUIRES level not kOff.
inline constexpr std::size_t kLogBytesMax = 2048;
void log(LogLevel level, std::string_view message);

// For events that may come a million times (a refused client, a broken reply): one line per `key`
// and kLogInterval. At the interval's end one more line sums up the others: "1000 more like this in
// the last 10s: MESSAGE". `key` is the kind of event, not its data.
inline constexpr Nanos kLogInterval = std::chrono::seconds(10);
void log_limited(LogLevel level, std::string_view key, std::string_view message, TimePoint now);
// For parts of the program that notice one event: writes the first line within kLogInterval. The
// others, which say the same, are left out without a count.
void log_once(LogLevel level, std::string_view key, std::string_view message, TimePoint now);
// Writes those lines that are due. log_limited() does it, too; call it about once per second, so
// that the end of a flood has its line.
void log_summaries(TimePoint now);

// The state of log_limited(). Not thread-safe. Tells at most `keys_max` keys apart; while all of
// them are within their intervals, further keys share one. O(log keys).
class LogLimiter {
 public:
  explicit LogLimiter(Nanos interval = kLogInterval, std::size_t keys_max = 256);

  enum class LeftOut { kCounted, kForgotten };  // what take_summaries() says of it

  // False: leave this one out. Otherwise log it.
  bool admit(std::string_view key, LogLevel level, std::string_view message, TimePoint now,
             LeftOut left_out = LeftOut::kCounted);

  // A kind of event whose interval is over, with the number of lines left out.
  struct Summary {
    LogLevel level;       // of the line that was logged
    std::string message;  // its beginning
    std::uint64_t left_out;
  };
  std::vector<Summary> take_summaries(TimePoint now);

 private:
  struct Event {
    TimePoint logged_at;
    LogLevel level;
    std::string message;
    std::uint64_t left_out = 0;
  };
  using Events = std::map<std::string, Event, std::less<>>;

  bool is_over(const Event& event, TimePoint now) const {
    return now - event.logged_at >= interval_;
  }
  void forget_old(TimePoint now);

  Nanos interval_;
  std::size_t keys_max_;
  TimePoint look_at_ = TimePoint::max();  // no summary is due before
  Events events_;
};

// Writes to this file from now on ("": stderr), in this format: text as above, or a line of JSON
// per event with the members time, level and message. An error changes nothing.
Status set_log_output(const std::string& path, LogFormat format);

// Opens the file's path again, after another program has moved the file away; without a file it
// does nothing. After an error lines go to the old file.
Status reopen_log();

// Waits at most `limit` until all lines are written; returns whether they are. For the program's
// end.
bool flush_log(Nanos limit);

std::uint64_t log_lines_dropped();  // since the start
std::size_t log_bytes_waiting();    // memory of lines that are not written yet

// Sends lines, without time and level, to `sink`; an empty function restores the log's file. The
// sink gets one line at a time and must not log. For tests.
using LogSink = std::function<void(LogLevel, std::string_view)>;
void set_log_sink(LogSink sink);

}  // namespace heatsink
