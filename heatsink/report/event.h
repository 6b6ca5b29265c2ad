// SPDX-License-Identifier: Apache-2.0
// An event for people: a key became hot or cold, was limited, or was served stale.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/detect/verdict.h"

namespace heatsink::report {

// One key has another temperature; or (`nothing_hot`) the last hot key has gone: then only number,
// at and reason are set; or (`stale_read`) a copy of the key was served although it was stale: then
// its name and database, too; or (`limit`) the key has got a limit by itself or lost it: the same;
// or (`outage`) the server cannot be reached and copies may be served past their proof, or that is
// over: only number, at and reason. A plain value.
struct Event {
  enum class Limit : std::uint8_t { kNone, kBegan, kEnded };
  std::uint64_t number = 0;  // counts up from 1; a gap: events that are no longer kept
  TimePoint at{};
  bool nothing_hot = false;
  bool stale_read = false;
  bool outage = false;
  Limit limit = Limit::kNone;
  std::string key;  // at most kKeyBytesMax bytes of it
  bool key_truncated = false;
  std::uint32_t db = 0;
  detect::Temperature temperature = detect::Temperature::kCold;
  detect::Temperature before = detect::Temperature::kCold;
  detect::Measure measure;
  std::string rule;  // "": the default
  double rate = 0;   // as in Verdict, at that moment
  double share = 0;
  std::string reason;
};

// Of a change of a verdict; it has no number yet.
Event event_of(const detect::Change& change, TimePoint now);

}  // namespace heatsink::report
