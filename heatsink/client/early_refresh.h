// SPDX-License-Identifier: Apache-2.0
// Decides how early a reader reloads a copy that has not expired yet (XFetch).
#pragma once

#include "heatsink/base/clock.h"

namespace heatsink::client {

// XFetch (Vattani, Chierichetti, Lowenstein: "Optimal Probabilistic Cache Stampede Prevention",
// VLDB 2015), with one draw per copy instead of one per read: the first reader after the returned
// time reloads the copy. The longer a load took, the earlier the reload; keys that were loaded
// together are not reloaded together. `random`: in [0, 1). The result is not before `earliest`;
// factor 0: never.
TimePoint early_refresh_at(TimePoint expires_at, TimePoint earliest, Nanos load_took, double factor,
                           double random);

}  // namespace heatsink::client
