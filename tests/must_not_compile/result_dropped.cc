// SPDX-License-Identifier: Apache-2.0
// An expected failure cannot be overlooked.
// EXPECT: ignoring return.*nodiscard
#pragma GCC diagnostic error "-Wunused-result"
#include "heatsink/base/units.h"

void configure() {
#ifdef MISUSE
  heatsink::parse_bytes("64kb");
#else
  (void)heatsink::parse_bytes("64kb");
#endif
}
