// SPDX-License-Identifier: Apache-2.0
// Turns options into the settings of the keeper's parts.
#pragma once

#include "heatsink/copies/copy_chooser.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// The auditor's connection makes no copies: its heartbeats only show that it is alive.
inline constexpr Nanos kReaderHeartbeat = std::chrono::seconds(1);

redis::TrackerOptions tracker_options(const NodeState& shared);
redis::TrackerOptions reader_options(const NodeState& shared);  // the auditor's
CopyChooser::Options chooser_options(const policy::ProxyOptions& options);
// Some hits are compared with the server.
bool audits(const policy::ProxyOptions& options);

}  // namespace heatsink::copies
