// SPDX-License-Identifier: Apache-2.0
// Include this to read hot keys from copies on all nodes of a cluster (SpreadKeys), and to split
// counters over them (SplitCounter). Guide: docs/guides/spread.md.
#pragma once

#include "heatsink/distributed/spread_keys.h"  // IWYU pragma: export

namespace heatsink {

using distributed::Server;
using distributed::ServerOptions;
using distributed::SplitCounter;
using distributed::SplitCounterOptions;
using distributed::SpreadKeys;
using distributed::SpreadOptions;

}  // namespace heatsink
