// SPDX-License-Identifier: Apache-2.0
// Lets keys that are not hot earn a copy by their reads, and learns how many reads that should take
// (docs/decisions/0036-the-library-earns-copies.md).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/access_shards.h"
#include "heatsink/client/copy_guard.h"
#include "heatsink/client/hit_clock.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/life.h"
#include "heatsink/client/options.h"
#include "heatsink/client/served_until.h"
#include "heatsink/report/node_report.h"

namespace heatsink::client {

// Owns the choice and the savings of copies. Any thread calls try_admit() and report(); only the
// keeper calls tend().
class EarnedCopies {
 public:
  // What readers count with, shared with the AccessShards. Null: no key earns a copy with these
  // options (cache.admission, cache.enabled, detection.enabled).
  static std::shared_ptr<admit::AdmissionState> state_for(const ClientOptions& options);

  struct Parts {  // all outlive it
    KeptKeys& kept;
    CopyGuard& guard;
    AccessShards& shards;
    const HitClock& clock;
    const ServedUntil& served_until;
    const Life& life;
    admit::AdmissionState& admission;
  };
  EarnedCopies(const ClientOptions& options, TimePoint now, const Parts& parts);

  // Counts a read of a key that is not kept. True: it is kept from now on. Does not wait.
  bool try_admit(std::string_view key, KeyHash hash, TimePoint now);

  // Once per tick: learns from the sampled accesses, and once a second makes room.
  void tend(TimePoint now);

  report::CopiesReport report(TimePoint now) const;  // for the page

 private:
  void play(const KeptKeys::Held& held, TimePoint now);
  void sweep(std::size_t keys, TimePoint now);
  std::size_t useful_copies() const;
  void add_top(report::CopiesReport& report, TimePoint now) const;

  const ClientOptions& options_;
  const Parts parts_;
  const bool has_server_;
  mutable std::mutex mutex_;  // guards the next two; only the keeper changes them
  admit::SizedChooser chooser_;
  admit::CopySavings savings_;
  TimePoint tended_at_;  // the keeper's: the last time that room was made
};

}  // namespace heatsink::client
