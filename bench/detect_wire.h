// SPDX-License-Identifier: Apache-2.0
// What handing a summary on costs: bytes and time to encode, decode and join.
#pragma once

#include "bench/figures.h"

namespace heatsink::bench {

void measure_wire(Figures& figures);  // 2 s

}  // namespace heatsink::bench
