// SPDX-License-Identifier: Apache-2.0
// Schedules the background loads of hot keys, and gives up keys whose loads keep failing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/cached_value.h"

namespace heatsink::client {

struct RefreshOptions {
  Nanos interval = std::chrono::seconds(10);
  // Each load is due up to this share of the interval early, so that keys that were loaded together
  // drift apart.
  double jitter = 0.1;
  std::uint32_t failures_max = 3;  // in a row; then the key is forgotten
};

// Time and chance are arguments (`random`: in [0, 1), a new draw per call). Not thread-safe. next()
// does not return a key whose job is under way. O(log keys).
class RefreshSchedule {
 public:
  explicit RefreshSchedule(const RefreshOptions& options) : options_(options) {}

  Nanos interval() const { return options_.interval; }  // any thread

  // The key was loaded at `now`, by this loader. Counts as a success of a known key.
  void loaded(KeyHash hash, Load load, TimePoint now, double random);
  void forget(KeyHash hash);
  // Makes the key due since `now`. False: no loader is known for it, or it is under way.
  bool hurry(KeyHash hash, TimePoint now);

  struct Job {
    KeyHash hash;
    Load load;
    TimePoint due;  // a load that began since then will do, too
  };
  // Returns a due job and marks it as under way.
  std::optional<Job> next(TimePoint now);
  std::optional<TimePoint> due_at() const;  // empty: nothing is waiting

  // Report the end of a job that next() returned; no effect on a key that was forgotten meanwhile.
  // failed() returns true at the last allowed failure: the key is forgotten, and the caller must
  // drop its copy. skipped(): a caller has loaded the key or is loading it; the result is unknown
  // here.
  void succeeded(KeyHash hash, TimePoint now, double random);
  bool failed(KeyHash hash, TimePoint now, double random);
  void skipped(KeyHash hash, TimePoint now, double random);

  std::size_t size() const { return keys_.size(); }

 private:
  struct Key {
    Load load;
    TimePoint due{};
    std::uint32_t failures = 0;
    bool is_under_way = false;
  };
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };
  using Keys = std::unordered_map<KeyHash, Key, HashOfHash>;

  void wait(Keys::value_type& key, TimePoint due);

  RefreshOptions options_;
  Keys keys_;
  std::set<std::pair<TimePoint, std::uint64_t>> waiting_;  // keys not under way, by due time
};

}  // namespace heatsink::client
