// SPDX-License-Identifier: Apache-2.0
// A write of a key by the application, between its begin and its end.
#pragma once

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"

namespace heatsink::client {

struct BegunWrite {
  KeyHash hash;
  TimePoint began_at;  // min(): another write of the key overlaps it
};

}  // namespace heatsink::client
