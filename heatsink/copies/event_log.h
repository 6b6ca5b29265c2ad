// SPDX-License-Identifier: Apache-2.0
// What has become hot, and what has ceased to be: the latest of it in memory, and lines in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// The keeper adds; any thread may ask for the latest. What concerns hot keys and what only turns
// warm or cold are kept apart, kEventsMax of each, so that many small changes do not push out what
// matters. At most kLinesPerSecond lines are logged, of which half may be about keys that were
// never hot; the next second begins with the number of those left out.
class EventLog {
 public:
  static constexpr std::size_t kEventsMax = 1000;
  static constexpr std::size_t kLinesPerSecond = 10;

  // `quiet` says when nothing is hot (quiet_sentence()).
  explicit EventLog(std::string quiet) : quiet_(std::move(quiet)) {}

  // The changes of one update of the selector, after which `hot` keys are hot or write-hot. To be
  // called at each update, also without changes: that is what ends a second.
  void add(std::span<const detect::Change> changes, std::size_t hot, TimePoint now);

  // A copy was served although it was stale. At most one line per kLogInterval, at level error; the
  // key as it is to be shown.
  void add_stale_read(std::string key, std::uint32_t db, std::string reason, TimePoint now);

  // Copies may be served past their proof from now on, or no longer (stale-while-error).
  void add_outage(std::string reason, TimePoint now);
  // A key has got a limit by itself, or lost it; the key as it is to be shown.
  void add_limit(bool began, std::string key, std::uint32_t db, std::string reason, TimePoint now);

  const std::string& quiet() const { return quiet_; }
  std::vector<report::Event> latest() const;  // by number, rising

 private:
  void keep(report::Event event);
  void write(const report::Event& event);
  void end_second(TimePoint now);

  const std::string quiet_;
  bool was_hot_ = false;

  mutable std::mutex mutex_;  // of what follows up to the blank line
  std::uint64_t last_number_ = 0;
  std::deque<report::Event> hot_;
  std::deque<report::Event> others_;

  TimePoint second_began_{};
  std::size_t lines_ = 0;        // in this second
  std::size_t other_lines_ = 0;  // of them, of keys that were never hot
  std::uint64_t left_out_ = 0;
};

// One line: "product:1 (db 0) is hot: 3412/s >= hot-qps 3000 (8.1 % of traffic)".
std::string event_sentence(const report::Event& event);

}  // namespace heatsink::copies
