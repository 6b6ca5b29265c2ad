// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/keeper_options.h"

#include <algorithm>
#include <chrono>

namespace heatsink::copies {
namespace {

// Between two questions for the server's CPU time, which is shown over the detection's window.
constexpr Nanos kUseIntervalMax = std::chrono::seconds(5);
constexpr Nanos kReaderRest = std::chrono::seconds(10);

}  // namespace

redis::TrackerOptions tracker_options(const NodeState& shared) {
  const PolicySnapshot& policy = shared.current();
  const policy::ProxyOptions& options = policy.options;
  redis::TrackerOptions tracker;
  tracker.credentials = policy.credentials;
  tracker.heartbeat_key = options.heartbeat_key;
  tracker.heartbeat_interval = options.heartbeat_interval;
  tracker.max_staleness = policy::longest_staleness(policy.consistency);
  tracker.epoch_interval = policy::epoch_interval(policy.consistency);
  tracker.fill_timeout = options.max_staleness;
  tracker.response_timeout = options.response_timeout;
  tracker.value_bytes_max = options.maximum_value_bytes.count;
  tracker.names_max = static_cast<std::size_t>(options.maximum_tracked_keys);
  // Twice per acl-staleness, so that a change is noticed in time.
  tracker.rights_interval = options.acl_staleness / 2;
  // Twice per max-staleness: an answer may be late by half of it before copies are refused.
  tracker.swap_interval = policy.shortest_staleness / 2;
  tracker.use_interval = std::clamp<Nanos>(options.window / 5, Millis(500), kUseIntervalMax);
  return tracker;
}

redis::TrackerOptions reader_options(const NodeState& shared) {
  redis::TrackerOptions reader = tracker_options(shared);
  reader.name = "heatsink-auditor";
  reader.tracking = false;
  reader.rights_interval = reader.swap_interval = reader.use_interval = Nanos(0);
  reader.heartbeat_interval = kReaderHeartbeat;
  reader.rest_interval = kReaderRest;
  reader.epoch_interval = kReaderRest;  // an audit does not rely on the voters
  // No client waits for an audit, so it may take as long as a reply may.
  reader.max_staleness = reader.fill_timeout = reader.response_timeout;
  return reader;
}

CopyChooser::Options chooser_options(const policy::ProxyOptions& options) {
  return {.copies_max = static_cast<std::size_t>(options.maximum_size),
          .life = options.expire_after_write,
          .workers = std::max<std::int64_t>(options.workers, 1),
          .server_weight = options.server_weight,
          .wait_weight = options.wait_weight};
}

bool audits(const policy::ProxyOptions& options) {
  return options.cache_enabled && options.audit_rate.part > 0;
}

}  // namespace heatsink::copies
