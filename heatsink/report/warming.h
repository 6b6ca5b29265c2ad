// SPDX-License-Identifier: Apache-2.0
// Orders to keep keys hot for a time (warming), and their results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"

namespace heatsink::report {

struct WarmKey {
  std::string name;
  std::uint32_t db = 0;
};

// All keys of one database whose names match, as far as the server tells them (SCAN).
struct WarmPattern {
  static constexpr std::size_t kGlobBytesMax = 1024;
  static constexpr std::size_t kKeysMax = 4096;  // a table has no more places (cache.maximum-size)
  static constexpr std::size_t kLoadingMax = 1000;

  std::string glob;  // as SCAN MATCH takes it
  std::uint32_t db = 0;
  std::size_t keys_max = kKeysMax;
  std::size_t loading_max = 50;  // keys that are loaded at once
  double keys_per_second = 0;    // that begin to be warmed; 0: no limit
};

// What is wrong with a pattern, in a sentence; "": nothing. The server gives any text a meaning:
// an open class and a last backslash are taken for slips.
std::string pattern_fault(std::string_view glob);

// Keys, or a pattern; what is to end may also be a search.
struct WarmOrder {
  static constexpr std::size_t kKeysMax = 1000;
  static constexpr Nanos kLastsMax = std::chrono::hours(24 * 7);

  std::vector<WarmKey> keys;
  Nanos lasts{0};
  bool ends = false;  // they are to be warmed no longer
  std::optional<WarmPattern> pattern{};
  std::uint64_t search = 0;  // REQUIRES ends; what it has warmed stays so
};

enum class WarmOutcome : std::uint8_t {
  kLoading,  // the server has not answered yet; it is asked again
  kLoaded,
  kMissing,    // no such key, and the copy says so
  kTooBig,     // kept hot, without a copy
  kNoString,   // GET of it is refused; kept hot, so that the first read of its own kind fills it
  kRefused,    // not warmed: `note` says why
  kEnded,      // warmed no longer
  kNotWarmed,  // it was not, when it was to end
};
const char* to_string(WarmOutcome outcome);  // "loading", "loaded", "missing", "too-big", ...

struct WarmedKey {
  WarmKey key;
  WarmOutcome outcome = WarmOutcome::kLoading;
  std::string note;   // a sentence; "" where the outcome says it all
  TimePoint until{};  // of keys that are warmed
};

// How far the search for the keys of a pattern is. A plain value.
struct WarmSearch {
  enum class State : std::uint8_t {
    kWaiting,  // for another one, or for its next time
    kSearching,
    kFinished,
    kFailed,  // `note` says why
    kEnded    // by hand, or its time is over
  };
  static constexpr std::size_t kNamesMax = 20;

  std::uint64_t id = 0;
  std::string glob;
  std::uint32_t db = 0;
  State state = State::kWaiting;
  std::string note;                         // why some are left out, or why it failed; "": nothing
  double progress = 0;                      // 0 .. 1: the part of the database looked at, about
  std::size_t found = 0;                    // names that match
  std::size_t warmed = 0;                   // of them
  std::size_t loading = 0;                  // of the warmed ones
  std::size_t left_out = 0;                 // found and not warmed
  std::vector<std::string> left_out_names;  // the first kNamesMax
  TimePoint until{};

  bool over() const { return state >= State::kFinished; }
};
const char* to_string(WarmSearch::State state);  // "waiting", "searching", "finished", ...

// A plain value. `problem`: why nothing could be done at all; "": the keys say what was.
struct WarmReport {
  TimePoint at{};
  std::string problem;
  std::vector<WarmedKey> keys;
  std::vector<WarmSearch> searches{};
};

}  // namespace heatsink::report
