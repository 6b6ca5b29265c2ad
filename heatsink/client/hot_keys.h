// SPDX-License-Identifier: Apache-2.0
// Judges which keys are hot, by this process's counts and with fleet.enabled by those of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/client/options.h"
#include "heatsink/client/server_link.h"
#include "heatsink/client/stats.h"
#include "heatsink/detect/detect.h"
#include "heatsink/fleet/fleet.h"

namespace heatsink::client {

// Owns the selector and the last window. It keeps nothing of a key: HotCopies follows its changes.
// Only the keeper calls update(); any thread calls the others.
class HotKeys {
 public:
  using FleetState = ServerListener::FleetState;

  // The options outlive it.
  HotKeys(const ClientOptions& options, std::uint64_t hash_seed);

  const detect::RuleSet& rules() const { return rules_; }

  // Judges the counts of all shards.
  std::vector<detect::Change> update(detect::Summary counted);

  bool is_hot(KeyHash hash) const;  // by its rate. O(verdicts)
  std::vector<HotKeyInfo> top(std::size_t n) const;

  // What it knows now; `use` must not keep it, and must not call this object.
  struct Known {
    const detect::Summary& window;
    const detect::Selector& selector;
    const FleetState& fleet;
    const detect::RuleSet& rules;
  };
  template <class Use>
  auto read(Use use) const {
    const std::lock_guard lock(mutex_);
    return use(Known{window_, selector_, fleet_, rules_});
  }

  // ---- for the fleet, whose keys have a database and a hash with its number

  std::vector<detect::Summary> counted() const;
  fleet::Matters matters() const;
  void set_fleet(const FleetState& state);

 private:
  // REQUIRE mutex_.
  std::vector<detect::FleetWindow> fleet_windows();
  void judge_alone_as(std::int64_t instances);

  const ClientOptions& options_;
  const std::uint64_t hash_seed_;
  const std::uint32_t database_;  // of server.url
  const detect::RuleSet rules_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  detect::Selector selector_;
  detect::Summary window_;
  FleetState fleet_;
  std::int64_t alone_as_;  // the selector's thresholds are divided by this
};

}  // namespace heatsink::client
