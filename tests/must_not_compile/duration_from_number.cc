// SPDX-License-Identifier: Apache-2.0
// A time without a unit is no time.
// EXPECT: could not convert|no viable conversion
#include "heatsink/base/clock.h"

heatsink::Nanos window() {
#ifdef MISUSE
  return 10;
#else
  return heatsink::Millis(10);
#endif
}
