// SPDX-License-Identifier: Apache-2.0
// Decides when a reader loads a copy anew although the old one has not expired (XFetch).
#pragma once

#include "heatsink/base/clock.h"

namespace heatsink::client {

// XFetch (Vattani, Chierichetti, Lowenstein: "Optimal Probabilistic Cache Stampede Prevention",
// VLDB 2015), with the draw made once for each copy: it is the first reader past it who asks. The
// longer a load took, the earlier; and readers of keys that were loaded together do not ask
// together. `random`: 0 .. 1, without 1. Not before `earliest`; factor 0: never.
TimePoint early_refresh_at(TimePoint expires_at, TimePoint earliest, Nanos load_took, double factor,
                           double random);

}  // namespace heatsink::client
