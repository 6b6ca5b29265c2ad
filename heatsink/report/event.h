// SPDX-License-Identifier: Apache-2.0
// Defines an event for people: a key became hot or cold, was limited or served stale, or the
// configuration changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/detect/verdict.h"
#include "heatsink/report/load_relief.h"

namespace heatsink::report {

// A plain value. Usually a key has got another temperature. The flags mark other events, which set
// fewer members:
//   nothing_hot  the last hot key has gone: number, at, reason, relief
//   stale_read   a copy was served although it was stale: these, and the key's name and database
//   limit        the key has got an automatic limit, or lost it: the same
//   config       the configuration was changed, or a change was refused: number, at, reason
//   instance     of many, one is silent, or answers again: the same as config
//   outage       the server cannot be reached and copies may be served past their proof, or that is
//                over: number, at, reason
//   order        an operator has ordered something: number, at, reason; of a single key its name
//                and database, too
struct Event {
  enum class Limit : std::uint8_t { kNone, kBegan, kEnded };
  std::uint64_t number = 0;  // counts up from 1; a gap: events that are no longer kept
  TimePoint at{};
  bool nothing_hot = false;
  bool stale_read = false;
  bool outage = false;
  bool order = false;
  enum class Config : std::uint8_t { kNone, kChanged, kRefused } config = Config::kNone;
  enum class Instance : std::uint8_t { kNone, kSilent, kAnswers } instance = Instance::kNone;
  Limit limit = Limit::kNone;
  std::string key;  // at most kKeyBytesMax bytes of the name
  bool key_truncated = false;
  std::uint32_t db = 0;
  detect::Temperature temperature = detect::Temperature::kCold;
  detect::Temperature before = detect::Temperature::kCold;
  detect::Measure measure;
  std::string rule;  // "": the default rule
  double rate = 0;   // as in Verdict, at that time
  double share = 0;
  // The relief of the key, or (nothing_hot) of all keys, at that time; nothing: not known.
  std::optional<LoadRelief> relief{};
  std::string reason;
};

// The event in one word, as in /api/events: "hot", "nothing-hot", "config-changed".
const char* word_for(const Event& event);
bool has_key(const Event& event);     // it names a key
bool is_verdict(const Event& event);  // a key has another temperature: all members are set

// The event of a verdict's change, without a number yet.
Event event_of(const detect::Change& change, TimePoint now);

}  // namespace heatsink::report
