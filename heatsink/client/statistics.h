// SPDX-License-Identifier: Apache-2.0
// Puts together what a client has done, now and within the last window, and reports it.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/client/access_shards.h"
#include "heatsink/client/counters.h"
#include "heatsink/client/counts_window.h"
#include "heatsink/client/hit_clock.h"
#include "heatsink/client/hot_keys.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/listeners.h"
#include "heatsink/client/options.h"
#include "heatsink/client/server_link.h"
#include "heatsink/client/stats.h"

namespace heatsink::client {

// Reads all parts that count; owns the counts of the last window. Any thread calls read() and
// on_report(); only the keeper calls look() and report().
class Statistics {
 public:
  struct Parts {  // all outlive it
    const AccessShards& shards;
    const HitClock& clock;
    const KeptKeys& kept;
    const HotKeys& hot_keys;
    const Counters& counters;
    const ServerLink* server;  // null: level `ttl`
  };
  Statistics(const ClientOptions& options, const Parts& parts)
      : options_(options), parts_(parts), window_(options.window) {}

  Stats read() const;
  void look(TimePoint now);  // at least once per tenth of the window
  void on_report(std::function<void(const Stats&)> callback) {
    listeners_.add(std::move(callback));
  }
  void report() const;  // to the log with report.enabled, and to the callbacks

 private:
  Counts counts(const AccessShards::Traffic& traffic) const;

  const ClientOptions& options_;
  const Parts parts_;
  mutable std::mutex mutex_;
  CountsWindow window_;  // guarded by mutex_
  Listeners<Stats> listeners_;
};

}  // namespace heatsink::client
