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

// All keys of one database with matching names, as SCAN returns them.
struct WarmPattern {
  static constexpr std::size_t kGlobBytesMax = 1024;
  static constexpr std::size_t kKeysMax = 4096;  // a table has no more entries (cache.maximum-size)
  static constexpr std::size_t kLoadingMax = 1000;

  std::string glob;  // as in SCAN MATCH
  std::uint32_t db = 0;
  std::size_t keys_max = kKeysMax;
  std::size_t loading_max = 50;  // keys loaded at once
  double keys_per_second = 0;    // keys started per second; 0: no limit
};

// The fault of a pattern, in a sentence; "": none. The server accepts any text; here an open class
// and a backslash at the end count as mistakes.
std::string pattern_fault(std::string_view glob);

// Names keys, or a pattern; an order to end may also name a search.
struct WarmOrder {
  static constexpr std::size_t kKeysMax = 1000;
  static constexpr Nanos kLastsMax = std::chrono::hours(24 * 7);

  std::vector<WarmKey> keys;
  Nanos lasts{0};
  bool ends = false;  // ends their warming
  std::optional<WarmPattern> pattern{};
  std::uint64_t search = 0;  // REQUIRES ends; keys that it has warmed stay warm
};

enum class WarmOutcome : std::uint8_t {
  kLoading,  // the server has not answered yet; the proxy asks again
  kLoaded,
  kMissing,    // the key does not exist, and the copy says so
  kTooBig,     // kept hot, without a copy
  kNoString,   // the server refuses GET; kept hot, so that the first read of its own type fills it
  kRefused,    // not warmed; `note` gives the reason
  kEnded,      // no longer warmed
  kNotWarmed,  // an order to end named a key that was not warmed
};
const char* to_string(WarmOutcome outcome);  // "loading", "loaded", "missing", "too-big", ...

struct WarmedKey {
  WarmKey key;
  WarmOutcome outcome = WarmOutcome::kLoading;
  std::string note;   // a sentence; "" if the outcome says everything
  TimePoint until{};  // for keys that are warmed
};

// The progress of the search for a pattern's keys. A plain value.
struct WarmSearch {
  enum class State : std::uint8_t {
    kWaiting,  // for another search, or for its next turn
    kSearching,
    kFinished,
    kFailed,  // `note` gives the reason
    kEnded    // by an order, or its time is over
  };
  static constexpr std::size_t kNamesMax = 20;

  std::uint64_t id = 0;
  std::string glob;
  std::uint32_t db = 0;
  State state = State::kWaiting;
  std::string note;          // why keys are left out, or why it failed; or ""
  double progress = 0;       // 0 .. 1: the part of the database searched, approximately
  std::size_t found = 0;     // names that match
  std::size_t warmed = 0;    // of them
  std::size_t loading = 0;   // of the warmed ones
  std::size_t left_out = 0;  // found and not warmed
  std::vector<std::string> left_out_names;  // the first kNamesMax
  TimePoint until{};

  bool over() const { return state >= State::kFinished; }
};
const char* to_string(WarmSearch::State state);  // "waiting", "searching", "finished", ...

// A plain value. `problem`: why nothing could be done; "": the keys have the outcomes.
struct WarmReport {
  TimePoint at{};
  std::string problem;
  std::vector<WarmedKey> keys;
  std::vector<WarmSearch> searches{};
};

}  // namespace heatsink::report
