// SPDX-License-Identifier: Apache-2.0
// A hash is what hash_name gave, not any number that happens to be at hand.
// EXPECT: could not convert|no viable conversion
#include "heatsink/base/hash.h"

heatsink::KeyHash hash(heatsink::NameHash name) {
#ifdef MISUSE
  return name.value;
#else
  return in_db(name, 0);
#endif
}
