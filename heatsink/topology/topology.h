// SPDX-License-Identifier: Apache-2.0
// topology: finds out which servers there are, and which of them is responsible for a key.
// Start with key_servers.h for the servers of keys that are copied, with leader_watch.h for one
// master that may move, and with ClusterDirectory for a cluster.
#pragma once

#include "heatsink/topology/address_translation.h"  // IWYU pragma: export
#include "heatsink/topology/announced_map.h"        // IWYU pragma: export
#include "heatsink/topology/cluster_connections.h"  // IWYU pragma: export
#include "heatsink/topology/cluster_directory.h"    // IWYU pragma: export
#include "heatsink/topology/cluster_nodes.h"        // IWYU pragma: export
#include "heatsink/topology/cluster_trackers.h"     // IWYU pragma: export
#include "heatsink/topology/cluster_watch.h"        // IWYU pragma: export
#include "heatsink/topology/epoch_quorum.h"         // IWYU pragma: export
#include "heatsink/topology/followed_master.h"      // IWYU pragma: export
#include "heatsink/topology/key_servers.h"          // IWYU pragma: export
#include "heatsink/topology/leader_roles.h"         // IWYU pragma: export
#include "heatsink/topology/leader_verdict.h"       // IWYU pragma: export
#include "heatsink/topology/leader_watch.h"         // IWYU pragma: export
#include "heatsink/topology/make_leader_watch.h"    // IWYU pragma: export
#include "heatsink/topology/one_server.h"           // IWYU pragma: export
#include "heatsink/topology/proven_slots.h"         // IWYU pragma: export
#include "heatsink/topology/redirect.h"             // IWYU pragma: export
#include "heatsink/topology/replica_directory.h"    // IWYU pragma: export
#include "heatsink/topology/replica_lag.h"          // IWYU pragma: export
#include "heatsink/topology/replica_leader.h"       // IWYU pragma: export
#include "heatsink/topology/replica_monitor.h"      // IWYU pragma: export
#include "heatsink/topology/replication_info.h"     // IWYU pragma: export
#include "heatsink/topology/routed_requests.h"      // IWYU pragma: export
#include "heatsink/topology/sentinel_leader.h"      // IWYU pragma: export
#include "heatsink/topology/sentinel_replies.h"     // IWYU pragma: export
#include "heatsink/topology/slot_counts.h"          // IWYU pragma: export
#include "heatsink/topology/slot_map.h"             // IWYU pragma: export
#include "heatsink/topology/slot_proofs.h"          // IWYU pragma: export
#include "heatsink/topology/slot_stats.h"           // IWYU pragma: export
#include "heatsink/topology/slot_stats_poll.h"      // IWYU pragma: export
#include "heatsink/topology/slot_stats_watch.h"     // IWYU pragma: export
#include "heatsink/topology/slot_usage.h"           // IWYU pragma: export
#include "heatsink/topology/zones.h"                // IWYU pragma: export
