// SPDX-License-Identifier: Apache-2.0
// What all reliefs of a key share: the case, and the words for what a relief does.
#pragma once

#include <string>
#include <vector>

#include "heatsink/advice/key_traffic.h"
#include "heatsink/advice/lines.h"
#include "heatsink/advice/relief.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::advice {

// A relief helps when it takes off at least this part of the server time of the key.
inline constexpr double kHelpful = 0.1;

struct AdviceOptions {
  ServerCosts costs{};
  Nanos lifetime = std::chrono::seconds(10);  // cache.expire-after-write
  Nanos max_staleness = std::chrono::seconds(1);
  Bytes value_bytes_max = kibibytes(256);
  // detection.write-hot-ratio: with fewer reads per write there is no copy
  double write_hot_ratio = 10;
  std::vector<Nanos> ages{std::chrono::seconds(1), std::chrono::seconds(10)};  // for copies by age
  Nanos coalesce = Millis(2);  // for gathered writes
  Nanos stale_while_error = std::chrono::seconds(30);
  double limit_rate = 3000;  // per second
};

// The view of a key that all reliefs share. Valid as long as the objects it refers to.
struct Case {
  const KeyTraffic& key;
  KeyTraffic left;  // the traffic that still reaches the server
  const KeyPlace& place;
  const AdviceOptions& options;
};

// Parts of the texts.
std::string percent(double part);  // "97.2 %"
// "takes off 97.2 % of its load on the server (31.0 % of the node's requests)"
std::string taken_off(const Effect& effect);
Remedy remedy(ReliefKind relief, const Effect& effect, const std::string& price, Lines lines);
Remedy no_use(ReliefKind relief, std::string why);

}  // namespace heatsink::advice
