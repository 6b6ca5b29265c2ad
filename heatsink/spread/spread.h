// SPDX-License-Identifier: Apache-2.0
// spread: the rules for copies of one key on several nodes of a cluster, and for split counters.
// Start with copy_text.h, which says how a copy is filled and ended; layout.h says where copies
// are. The room knows no connection, no clock and no client: all of that are arguments.
#pragma once

#include "heatsink/spread/copy_text.h"  // IWYU pragma: export
#include "heatsink/spread/layout.h"     // IWYU pragma: export
#include "heatsink/spread/names.h"      // IWYU pragma: export
#include "heatsink/spread/part_sum.h"   // IWYU pragma: export
#include "heatsink/spread/scripts.h"    // IWYU pragma: export
