// SPDX-License-Identifier: Apache-2.0
// topology: finds out which server is the master now, and follows it when it moves.
// Start with leader_watch.h: one watch of one configured upstream, on one event loop.
#pragma once

#include "heatsink/topology/leader_address.h"     // IWYU pragma: export
#include "heatsink/topology/leader_roles.h"       // IWYU pragma: export
#include "heatsink/topology/leader_verdict.h"     // IWYU pragma: export
#include "heatsink/topology/leader_watch.h"       // IWYU pragma: export
#include "heatsink/topology/make_leader_watch.h"  // IWYU pragma: export
#include "heatsink/topology/replica_leader.h"     // IWYU pragma: export
#include "heatsink/topology/sentinel_leader.h"    // IWYU pragma: export
#include "heatsink/topology/sentinel_replies.h"   // IWYU pragma: export
