// SPDX-License-Identifier: Apache-2.0
// Defines a source: a way to see a server's hot keys. All sources give the same rows, and their
// cost.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/observe/key_details.h"
#include "heatsink/observe/server_protocol.h"
#include "heatsink/report/node_report.h"

namespace heatsink::observe {

// The outcome of a key's accesses, for sources that see replies. Counts only accesses whose reply
// is known for certain. The share of no accesses is 0.
struct KeyAnswers {
  double absent_share = 0;                         // of its reads: those that found no key
  std::optional<Nanos> latency_mean, latency_p99;  // of commands on the key; nothing: not known
};

// Facts that a user must know before trusting the rows: sentences, one line of UTF-8 each.
struct SourceFacts {
  std::string name;         // "monitor"
  std::string cost;         // includes the measured price once there is one
  std::string blind_spots;  // what the source cannot see
  std::string confidence;   // what the bounds of a rate mean
};

enum class SourceState : std::uint8_t {
  kStarting,  // nothing to show yet
  kRunning,   // the rows are good, and are updated
  kFinished,  // the rows are final
  kFailed,    // the source cannot work here; `note` says why and what to do; rows may exist
};

// The counters of one slot, for sources that have them.
struct SlotSeen {
  std::uint16_t slot = 0;
  double keys = 0;
  double cpu_share = 0;   // of the CPU time of all slots of its node; NaN: not known
  double bytes_rate = 0;  // received and sent, per second; NaN: not known
  // Accesses per second; NaN: not known.
  double rate = std::numeric_limits<double>::quiet_NaN();
  std::string node{};  // "": there is only one node
};

// The interval over which rates are averaged, on the clock of Source::tick().
struct Interval {
  TimePoint since{};
  TimePoint until{};
};

// The current rows. In the report: keys busiest first; rates per second, with bounds; counts scaled
// to report.window; values that a source cannot know (hits, copies) are 0. A key is kHot when it
// alone has a tenth of the observed load, kWarm from a hundredth on, else kCold.
struct Observation {
  report::Report report;
  SourceFacts facts;
  SourceState state = SourceState::kStarting;
  // The interval of the rates and bounds. It may have ended a while ago; another count must cover
  // the same interval to be comparable. For a scan, or several nodes, it is the whole interval, of
  // which each row has a part. Nothing: not known.
  std::optional<Interval> interval;
  std::string note;  // a warning, a limit, or the reason of a failure; or ""
  // Why the last attempt to reach the server failed; "": it did not, or there was none.
  std::string trouble;
  // Parallel to the rows; nothing: not known yet, or not asked for. The fleet fills it.
  std::vector<std::optional<KeyDetails>> details;
  // Parallel to the rows, from a source that sees replies; else empty.
  std::vector<std::optional<KeyAnswers>> answers;
  double progress = -1;  // 0 .. 1 for a source that finishes; negative: it does not finish
  double work = 0;       // size of the whole task, in keys
  // The watched time may all lie in a pause of the traffic, so it proves of no key that it is not
  // hot.
  bool may_be_pause = false;
  std::vector<std::string> node_of_row;  // parallel to the rows; empty: there is only one node
  std::vector<SlotSeen> slots;           // busiest first; empty: not counted

  // There are rows, or the absence of rows is a result. A source that is starting, or that failed
  // before it had rows, has no result.
  bool has_shown() const {
    return state == SourceState::kRunning || state == SourceState::kFinished ||
           !report.keys.empty();
  }
};

// A state machine over its protocols: takes times and bytes, gives bytes and rows; it has no socket
// and no clock. One thread. The owner keeps a connection open for each protocol while it is wanted,
// and calls tick() at least every 10 ms and after each batch of bytes. The protocols live as long
// as the source.
class Source {
 public:
  virtual ~Source() = default;

  virtual std::span<ServerProtocol* const> protocols() = 0;
  virtual void tick(TimePoint now) = 0;
  // The local address ("127.0.0.1:54321") of one of heatsink's own connections; its commands do not
  // count.
  virtual void own_connection(const std::string& /*local*/) {}
  virtual Observation observe(TimePoint now) = 0;  // O(rows)
};

}  // namespace heatsink::observe
