// SPDX-License-Identifier: Apache-2.0
// Decides which keys get an automatic limit (limits.automatic-qps), and when that limit ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::policy {

// Not thread-safe. A key's limit begins at `qps`. It ends once the key has stayed below kEndRatio
// of `qps` for kCalm: a limit that ended at the threshold itself would switch on and off with the
// noise of the counts. Refused accesses count too, so a limit does not end because it works.
class AutomaticLimits {
 public:
  static constexpr double kEndRatio = 0.8;
  static constexpr Nanos kCalm = std::chrono::seconds(10);

  AutomaticLimits(double qps, std::size_t keys_max) : qps_(qps), keys_max_(keys_max) {}

  struct Seen {
    KeyHash hash;
    std::string_view key;
    std::uint32_t db = 0;
    double rate = 0;  // accesses per second
  };
  struct Change {
    bool begins;
    KeyHash hash;
    std::string key;
    std::uint32_t db;
    double rate;
  };
  // `seen`: the known keys, busiest first. A limited key that is missing from it counts as idle.
  std::vector<Change> update(std::span<const Seen> seen, TimePoint now);

  std::size_t size() const { return limited_.size(); }
  // From the next update() on. Limited keys stay limited until they are calm by the new rate.
  void set_qps(double qps) { qps_ = qps; }
  // Ends all limits at once: limits.automatic-qps is off.
  std::vector<Change> end_all();

 private:
  struct Limited {
    KeyHash hash;
    std::string key;
    std::uint32_t db;
    TimePoint busy_at;  // last time at or above kEndRatio of the threshold
  };
  bool is_limited(KeyHash hash) const;

  double qps_;
  const std::size_t keys_max_;
  std::vector<Limited> limited_;
};

// The reason in the event log: "25000/s >= limits.automatic-qps 20000: the server gets at most this
// rate of it".
std::string automatic_reason(const AutomaticLimits::Change& change, double qps);

}  // namespace heatsink::policy
