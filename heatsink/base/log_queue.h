// SPDX-License-Identifier: Apache-2.0
// Log lines that wait to be written. When the log's reader is too slow, lines are dropped and
// counted: the threads that log never wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "heatsink/base/log_line.h"

namespace heatsink {

// What is written next. `told` > 0: behind the lines that were logged stands one that says how many
// were dropped.
struct LogBatch {
  std::vector<LogLine> lines;
  std::uint64_t told = 0;
};

// Not thread-safe. At most kLinesMax lines, so about 2 MiB (kLogBytesMax each).
class LogQueue {
 public:
  static constexpr std::size_t kLinesMax = 1024;
  static constexpr std::size_t kBatchMax = 64;

  void add(LogLine line);  // dropped when the queue is full

  // The oldest lines, kBatchMax at most. When they are the last ones, lines that were dropped are
  // told of, once.
  LogBatch take();

  // Line `i` of the batch could not be written.
  void lose(const LogBatch& batch, std::size_t i);

  bool empty() const { return lines_.empty(); }
  std::uint64_t dropped() const { return dropped_; }  // dropped or lost, since the start

 private:
  void drop(WallTime at);

  std::deque<LogLine> lines_;
  std::uint64_t dropped_ = 0;
  std::uint64_t untold_ = 0;  // of `dropped_`, those that no line has told of
  WallTime last_dropped_at_{};
};

}  // namespace heatsink
