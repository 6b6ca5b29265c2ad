// SPDX-License-Identifier: Apache-2.0
// topology: finds out which servers there are, and which of them is responsible for a key.
// Start with ClusterDirectory.
#pragma once

#include "heatsink/topology/address_translation.h"
#include "heatsink/topology/announced_map.h"
#include "heatsink/topology/cluster_connections.h"
#include "heatsink/topology/cluster_directory.h"
#include "heatsink/topology/cluster_watch.h"
#include "heatsink/topology/epoch_quorum.h"
#include "heatsink/topology/redirect.h"
#include "heatsink/topology/slot_map.h"
