// SPDX-License-Identifier: Apache-2.0
// Says which copies save most at present: their hits, less what their fills and ends cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "heatsink/admit/costs.h"
#include "heatsink/admit/hit_sampler.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::admit {

// What the copies of one key did per second. About the last kSpan count; older ones count less.
struct CopySaving {
  KeyHash key;
  double hits = 0;
  // Two standard deviations of the sample: the true rate is that close in 95 of 100 cases. 0: each
  // hit was counted.
  double hits_error = 0;
  double fills = 0;
  double ends = 0;
  double saved = 0;  // reads that the server was spared, less the costs
};

// One thread. No clock. Time may stand still, but not go back. Memory: 16 384 keys of about 60
// bytes.
class CopySavings {
 public:
  static constexpr Nanos kSpan = std::chrono::seconds(10);
  static constexpr std::size_t kKeysMax = 16'384;

  explicit CopySavings(TimePoint now) : at_(now) {}

  // O(1) per call or hit, amortised.
  void hit(std::span<const SampledHit> hits);
  // Fills and ends of a key without hits do not count: it cannot be among those that save most.
  void filled(KeyHash key);
  void ended(KeyHash key);  // the server has said that a copy has changed

  // Call it about once per second. O(keys).
  void tick(TimePoint now);

  // The keys that save most, the best one first; only keys that save anything and for which
  // `is_listed` is true. O(keys), and as many calls as it takes.
  std::vector<CopySaving> top(std::size_t count, const Costs& costs, TimePoint now,
                              const std::function<bool(KeyHash)>& is_listed) const;

  std::size_t keys() const { return sums_.size(); }

 private:
  // Each one loses the same part per second.
  struct Sums {
    double hits = 0, variance = 0;  // of `hits`, as a result of the sampling
    double fills = 0, ends = 0;
  };
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };

  static CopySaving rates(KeyHash key, const Sums& sums, double seconds, const Costs& costs);
  void forget_half();

  std::unordered_map<KeyHash, Sums, HashOfHash> sums_;
  double seconds_ = 0;  // in which the sums came, with the same loss
  TimePoint at_;        // of the last tick
};

}  // namespace heatsink::admit
