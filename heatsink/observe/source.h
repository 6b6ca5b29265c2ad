// SPDX-License-Identifier: Apache-2.0
// A way to see which keys of a server are hot: the same rows for everybody, and what they cost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/report.h"
#include "heatsink/observe/conversation.h"
#include "heatsink/observe/key_details.h"

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

// The rows as they stand. Of the report: keys busiest first, rates per second with bounds, counts
// scaled to report.window; what a source cannot know (hits, copies) is 0. A key is kHot when it
// alone is a tenth of what the source sees, kWarm from a hundredth on, else kCold.
struct Observation {
  detect::Report report;
  SourceFacts facts;
  SourceState state = SourceState::kStarting;
  std::string note;  // what there is to say now: a warning, a limit, why it failed; ""
  // Of the first rows, by their place; nothing: not known (yet). Filled in by the observer.
  std::vector<std::optional<KeyDetails>> details;
  double progress = -1;  // 0 .. 1 of a source that comes to an end; negative: it does not
};

// A state machine over its conversations: times and bytes in, bytes and rows out; no socket, no
// clock. One thread. The owner keeps a connection open for each conversation as long as it wants
// one, and calls tick() at least every 10 ms and after each batch of bytes; the conversations
// live as long as the source.
class Source {
 public:
  virtual ~Source() = default;

  virtual std::span<Conversation* const> conversations() = 0;
  virtual void tick(TimePoint now) = 0;
  virtual Observation observe(TimePoint now) = 0;  // O(rows)
};

}  // namespace heatsink::observe
