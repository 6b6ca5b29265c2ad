// SPDX-License-Identifier: Apache-2.0
// Keeps the keys that are hot by their rate or by warm(), and lets go of those that are no more.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/copy_guard.h"
#include "heatsink/client/counters.h"
#include "heatsink/client/hot_keys.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/options.h"
#include "heatsink/client/refreshes.h"
#include "heatsink/client/stats.h"
#include "heatsink/detect/detect.h"

namespace heatsink::client {

// Owns the ends of warmings. Any thread calls warm(); only the keeper calls the others.
class HotCopies {
 public:
  struct Parts {  // all outlive it
    KeptKeys& kept;
    CopyGuard& guard;
    Refreshes& refreshes;
    const HotKeys& hot_keys;
    Counters& counters;
    bool keeps_cold;  // a key that is no longer hot keeps its copy, as one that it has earned
  };
  HotCopies(const ClientOptions& options, const Parts& parts) : options_(options), parts_(parts) {}

  // Makes the key hot until then, whatever its traffic. False: cache.maximum-size keys are hot.
  bool warm(std::string_view key, KeyHash hash, TimePoint until);

  // Follows the changes of HotKeys::update(); returns the changes for the application's callbacks.
  std::vector<HotEvent> follow(std::span<const detect::Change> changes, TimePoint now);
  // Demotes keys whose warming has ended and whose own rate is not hot.
  void cool_down(TimePoint now);
  // Drops the copies that keys had earned before they became hot, and whose refresh is due.
  void drop_due(TimePoint now);

 private:
  // The copy of a key that has become hot since, and has no known loader.
  struct EarnedBefore {
    KeyHash hash;
    TimePoint loaded_at, due;
  };
  static constexpr std::size_t kEarnedBeforeMax = 10'000;

  void make_hot(std::string_view key, KeyHash hash);
  void limit_earned(KeyHash hash);
  void forget(KeyHash hash);

  const ClientOptions& options_;
  const Parts parts_;
  std::mutex mutex_;                                     // held while a key becomes hot or cold
  std::unordered_map<std::uint64_t, TimePoint> warmed_;  // by hash: the end of the warming
  std::vector<EarnedBefore> earned_before_;              // the keeper's
};

}  // namespace heatsink::client
