// SPDX-License-Identifier: Apache-2.0
// Fences go by a key's name, the hot table by its name in a database: the two hashes never meet.
// EXPECT: no match for .operator==|invalid operands
#include "heatsink/base/hash.h"

bool same(heatsink::NameHash name, heatsink::KeyHash key) {
#ifdef MISUSE
  return name == key;
#else
  return name == heatsink::NameHash{1} && key == heatsink::in_db(name, 0);
#endif
}
