// SPDX-License-Identifier: Apache-2.0
// Schedules the background loads of hot keys, and gives up a key whose loads keep failing.
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
  // Each is due up to this part of the interval early, so that keys that were loaded together do
  // not stay together.
  double jitter = 0.1;
  std::uint32_t failures_max = 3;  // in a row; then the key is forgotten
};

// Time and chance are arguments (`random`: 0 .. 1, drawn anew for each call). Not thread-safe. A
// key under way is due to nobody else. O(log keys).
class RefreshSchedule {
 public:
  explicit RefreshSchedule(const RefreshOptions& options) : options_(options) {}

  // The key was loaded at `now`, with this loader; a success, if it was known.
  void loaded(KeyHash hash, Load load, TimePoint now, double random);
  void forget(KeyHash hash);
  // It is due, since `now`; false: nobody knows how to load it, or it is under way.
  bool hurry(KeyHash hash, TimePoint now);

  struct Job {
    KeyHash hash;
    Load load;
    TimePoint due;  // a load that began since then is as good
  };
  // One that is due, now under way.
  std::optional<Job> next(TimePoint now);
  std::optional<TimePoint> due_at() const;  // none: nothing to wait for

  // How a job ended; REQUIRES that next() gave it. Of a key forgotten meanwhile: nothing. failed()
  // is true when it was once too often: the key is forgotten, and its copy is to go. skipped(): a
  // caller has loaded the key, or is about to; whether that works is no matter of the schedule's.
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
  std::set<std::pair<TimePoint, std::uint64_t>> waiting_;  // those not under way, by due time
};

}  // namespace heatsink::client
