// SPDX-License-Identifier: Apache-2.0
// A size is never mistaken for a count: neither becomes the other by itself.
// EXPECT: could not convert|no viable conversion
#include "heatsink/base/units.h"

heatsink::Bytes limit() {
#ifdef MISUSE
  return 1024;
#else
  return heatsink::kibibytes(1);
#endif
}
