// SPDX-License-Identifier: Apache-2.0
// Which keys are so hot that they get a limit by themselves, and until when.
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

// One thread. A key begins to be limited at `qps`, and ends when it has stayed below kEndRatio of
// that for kCalm: a limit that ended at the threshold would come and go with the noise of the
// counting. What is refused counts as asked for, so that a limit does not end because it works.
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
  // Busiest first; a key that is not among them is taken to rest.
  std::vector<Change> update(std::span<const Seen> seen, TimePoint now);

  std::size_t size() const { return limited_.size(); }

 private:
  struct Limited {
    KeyHash hash;
    std::string key;
    std::uint32_t db;
    TimePoint busy_at;  // when it was last above kEndRatio
  };
  bool is_limited(KeyHash hash) const;

  const double qps_;
  const std::size_t keys_max_;
  std::vector<Limited> limited_;
};

// Why, as an event has it: "25000/s >= limits.automatic-qps 20000: the server gets no more than
// that".
std::string automatic_reason(const AutomaticLimits::Change& change, double qps);

}  // namespace heatsink::policy
