// SPDX-License-Identifier: Apache-2.0
// A way to see which keys of a server are hot: the same rows for everybody, and what they cost.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/observe/key_answers.h"
#include "heatsink/observe/key_details.h"
#include "heatsink/observe/server_protocol.h"
#include "heatsink/report/node_report.h"

namespace heatsink::observe {

// What a person must know before trusting the rows: sentences, one line of UTF-8 each.
struct SourceFacts {
  std::string name;         // "monitor"
  std::string cost;         // with the price as it was measured, once it has been
  std::string blind_spots;  // what it does not see
  std::string confidence;   // how the bounds of a rate are meant
};

enum class SourceState : std::uint8_t {
  kStarting,  // nothing to show yet
  kRunning,   // the rows are good, and go on
  kFinished,  // the rows are all there will be
  kFailed,    // it cannot work here: `note` says why and what to do; there may be rows all the same
};

// What a source counts by slot itself.
struct SlotSeen {
  std::uint16_t slot = 0;
  double keys = 0;
  double cpu_share = 0;   // of the CPU time of all slots of its node; NaN: not known
  double bytes_rate = 0;  // in and out, per second; NaN: not known
  // Accesses per second; NaN: not known.
  double rate = std::numeric_limits<double>::quiet_NaN();
  std::string node{};  // "": there is but one
};

// What rates are the mean over, on the clock of Source::tick().
struct Interval {
  TimePoint since{};
  TimePoint until{};
};

// The rows as they stand. Of the report: keys busiest first, rates per second with bounds, counts
// scaled to report.window; what a source cannot know (hits, copies) is 0. A key is kHot when it
// alone is a tenth of what the source sees, kWarm from a hundredth on, else kCold.
struct Observation {
  report::Report report;
  SourceFacts facts;
  SourceState state = SourceState::kStarting;
  // The rates and their bounds are of this interval, which may have ended a while ago: whoever
  // compares them with anything has to count there. Of a scan or several nodes, whose rows each
  // have a part of it, the whole. Nothing: not known.
  std::optional<Interval> interval;
  std::string note;  // what there is to say now: a warning, a limit, why it failed; ""
  // Why the server cannot be reached now, as it was tried; "": it can, or nobody knows yet.
  std::string trouble;
  // Of rows, by their place; nothing: not known (yet), or not asked for. Filled in by the fleet.
  std::vector<std::optional<KeyDetails>> details;
  // Of all rows, by their place, from a source that sees replies; else empty.
  std::vector<std::optional<KeyAnswers>> answers;
  double progress = -1;  // 0 .. 1 of a source that comes to an end; negative: it does not
  double work = 0;       // how much that end takes, in keys
  std::vector<std::string> node_of_row;  // by their place; empty: there is but one
  std::vector<SlotSeen> slots;           // busiest first; empty: not counted

  // There are rows, or that there are none is what was seen: of one that only starts, or that has
  // failed before, it says nothing.
  bool has_shown() const {
    return state == SourceState::kRunning || state == SourceState::kFinished ||
           !report.keys.empty();
  }
};

// A state machine over its protocols: times and bytes in, bytes and rows out; no socket, no
// clock. One thread. The owner keeps a connection open for each protocol as long as it wants
// one, and calls tick() at least every 10 ms and after each batch of bytes; the protocols
// live as long as the source.
class Source {
 public:
  virtual ~Source() = default;

  virtual std::span<ServerProtocol* const> protocols() = 0;
  virtual void tick(TimePoint now) = 0;
  // What comes from this address ("127.0.0.1:54321") is asked by ourselves: it is no traffic.
  virtual void own_connection(const std::string& /*local*/) {}
  virtual Observation observe(TimePoint now) = 0;  // O(rows)
};

}  // namespace heatsink::observe
