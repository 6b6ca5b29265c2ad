// SPDX-License-Identifier: Apache-2.0
// Asks servers for what becomes local copies: one tracker, or those of all nodes of a cluster.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/redis/fill.h"

namespace heatsink::redis {

// One thread. Outcomes come by TrackerEvents.
class FillSource {
 public:
  // See Tracker::fill(), barrier(), touch() and ask_eviction().
  virtual void fill(FillId id, const FillQuestion& question, TimePoint now) = 0;
  virtual void barrier(std::uint64_t token, TimePoint now, bool after_code = false) = 0;
  virtual void touch(std::uint32_t db, std::span<const std::string_view> keys, TimePoint now) = 0;
  virtual void ask_eviction(TimePoint now) = 0;
  virtual bool eviction_known() const = 0;
  virtual bool evicts_by_use() const = 0;
  virtual bool rights_known() const = 0;
  virtual bool is_up() const = 0;  // a fill makes sense
  // Which cache::ProofState vouches for copies of this key.
  virtual std::uint16_t proof_of(std::string_view /*key*/) const { return 0; }

 protected:
  ~FillSource() = default;
};

}  // namespace heatsink::redis
