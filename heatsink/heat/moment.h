// SPDX-License-Identifier: Apache-2.0
// Holds what a node counted at one moment: its totals, and its busiest keys and templates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/summary.h"

namespace heatsink::heat {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

enum class Kind : std::uint8_t { kKey, kTemplate };
inline constexpr std::size_t kKinds = 2;
inline constexpr std::size_t kPerMoment[kKinds] = {64, 32};  // of each kind; the busiest
const char* to_string(Kind kind);                            // "key", "template"

// A key or a template, as it may be shown.
struct Identity {
  static constexpr std::size_t kBytesMax = 256;  // of a name; a longer one is cut
  Kind kind = Kind::kKey;
  std::uint32_t db = 0;
  bool is_cut = false;  // `name` is only the beginning
  std::string name;     // any bytes
  friend bool operator==(const Identity&, const Identity&) = default;
};

// Per second, over the window of the count. A figure that is not known is NaN.
struct Totals {
  double requests = 0;  // of all keys, in the unit of the count (accesses, unless set otherwise)
  double reads = 0, writes = 0, hits = 0;  // accesses
  double commands = kNotKnown;             // that clients sent
  double server_commands = kNotKnown;      // that the servers got
  // Seconds: of the clients' commands, from the arrival until all of a batch is answered.
  double latency_p50 = kNotKnown, latency_p99 = kNotKnown;
};

struct Item {
  Identity identity;
  double rate = 0;  // in the unit of the count: the proven rate
  double writes = 0, hits = 0;
};

struct Moment {
  TimePoint at{};
  Nanos window{};  // that the rates were counted over
  Totals totals;
  // The highest possible rate of a key, and of a template, that `items` does not name.
  double unnamed_max[kKinds] = {kNotKnown, kNotKnown};
  std::vector<Item> items;  // at most kPerMoment of a kind, the busiest first
};

// The totals, keys and templates of a summary. `show`: the name as it may be shown; templates are
// left out if `hides_templates`. Pure but for `show`. O(keys of the summary).
using Show = std::function<std::string(std::string_view name)>;
Moment moment_of(const detect::Summary& summary, const Show& show, bool hides_templates);

}  // namespace heatsink::heat
