// SPDX-License-Identifier: Apache-2.0
// The way back is as explicit: `.count`.
// EXPECT: cannot convert|no viable conversion
#include "heatsink/base/units.h"

unsigned long long count(heatsink::Bytes bytes) {
#ifdef MISUSE
  return bytes;
#else
  return bytes.count;
#endif
}
