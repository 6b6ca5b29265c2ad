// SPDX-License-Identifier: Apache-2.0
// Considers each relief for one key: whether it is in force, would help or would not, and why.
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

// Reads.
Remedy consider_copies(const Case& of);
Remedy consider_warming(const Case& of);
Remedy consider_library(const Case& of);
Remedy consider_expiry(const Case& of);
Remedy consider_stale_while_error(const Case& of);
Remedy consider_copies_by_age(const Case& of, Nanos age);
Remedy consider_replicas(const Case& of);
Remedy consider_splitting(const Case& of);

// For writes, and for keys that are read in another form than they are written.
Remedy consider_gathering(const Case& of);
Remedy consider_leases(const Case& of);
Remedy consider_window_statistics(const Case& of);

// For reads and writes.
Remedy consider_stale_reads(const Case& of);
Remedy consider_limit(const Case& of);
Remedy consider_client_limit(const Case& of);
Remedy consider_slots(const Case& of);

// Why no process can hold a copy; "" if it can.
std::string why_no_copies(const Case& of);

// Parts of the texts.
std::string percent(double part);  // "97.2 %"
// "takes off 97.2 % of its load on the server (31.0 % of the node's requests)"
std::string taken_off(const Effect& effect);
Remedy remedy(ReliefKind relief, const Effect& effect, const std::string& price, Lines lines);
Remedy no_use(ReliefKind relief, std::string why);

}  // namespace heatsink::advice
