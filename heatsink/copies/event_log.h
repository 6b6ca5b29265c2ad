// SPDX-License-Identifier: Apache-2.0
// Keeps the latest changes of hot keys in memory and writes them to the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// The keeper adds events; any thread may read the latest. Events of hot keys and events of keys
// that only turned warm or cold have separate lists of kEventsMax each, so that many small changes
// cannot displace important ones. At most kLinesPerSecond lines are logged, at most half of them
// about keys that were never hot. The next second begins with a line that counts the omitted ones.
class EventLog {
 public:
  static constexpr std::size_t kEventsMax = 1000;
  static constexpr std::size_t kLinesPerSecond = 10;

  // `quiet`: the sentence for the time when nothing is hot (quiet_sentence()).
  explicit EventLog(std::string quiet) : quiet_(std::move(quiet)) {}

  // What an event tells of the load taken off at its time. Empty: nothing.
  struct Reliefs {
    std::function<report::LoadRelief(const detect::Verdict&)> of_key;
    std::function<report::LoadRelief()> of_all;
  };
  // Adds the changes of one update of the selector; `hot`: the number of hot and write-hot keys
  // after it. Call it at each update, even without changes: it also ends the log's second.
  void add(std::span<const detect::Change> changes, std::size_t hot, TimePoint now,
           const Reliefs& reliefs = {});

  // A copy was served although it was stale. `key` as it may be shown. Logs at most one line per
  // kLogInterval, at level error.
  void add_stale_read(std::string key, std::uint32_t db, std::string reason, TimePoint now);

  // An outage begins or ends in which copies may be served past their proof (stale-while-error).
  void add_outage(std::string reason, TimePoint now);
  // A key has received an automatic limit or lost it. `key` as it may be shown.
  void add_limit(bool began, std::string key, std::uint32_t db, std::string reason, TimePoint now);

  // An operator has ordered something. `key` as it may be shown, and cut here; "": the order names
  // no single one. Logs one line, whatever else is logged.
  void add_order(std::string_view key, std::uint32_t db, std::string reason, TimePoint now);

  // The configuration was changed, or a change was refused. Logs one line, whatever else is logged.
  void add_config(report::Event::Config config, std::string reason, TimePoint now);

  // `listener` gets each event except those of keys that only turned warm or cold, which may be
  // very many, in the thread that adds it. Call it before the first one.
  using Listener = std::function<void(const report::Event&)>;
  void listen(Listener listener) { listener_ = std::move(listener); }

  void set_quiet(std::string quiet) { quiet_ = std::move(quiet); }
  const std::string& quiet() const { return quiet_; }
  std::vector<report::Event> latest() const;  // in rising order of their numbers
  std::size_t memory_bytes() const;           // any thread; approximate

 private:
  void keep(report::Event event);
  void write(const report::Event& event);
  void end_second(TimePoint now);

  Listener listener_;
  std::string quiet_;
  bool was_hot_ = false;

  mutable std::mutex mutex_;  // guards the members up to the blank line
  std::uint64_t last_number_ = 0;
  std::deque<report::Event> hot_;
  std::deque<report::Event> others_;

  TimePoint second_began_{};
  std::size_t lines_ = 0;        // in this second
  std::size_t other_lines_ = 0;  // of these, lines about keys that were never hot
  std::uint64_t left_out_ = 0;
};

// One line: "product:1 (db 0) is hot: 3412/s >= hot-qps 3000 (8.1 % of traffic)". Where copies have
// answered: "...; copies answered 93.1 % of its reads, and 90.2 % of its load was taken off".
std::string event_sentence(const report::Event& event);

}  // namespace heatsink::copies
