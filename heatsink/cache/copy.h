// SPDX-License-Identifier: Apache-2.0
// One local copy of a value: immutable once published.
#pragma once

#include <cstdint>
#include <string>

#include "heatsink/base/clock.h"

namespace heatsink::cache {

// A run of the tracker during which no invalidation can have been missed. A copy of an older one is
// dead.
struct Generation {
  std::uint64_t number = 0;
  friend bool operator==(Generation, Generation) = default;
};

struct Copy {
  Generation generation;     // of the tracker when the fill was sent
  TimePoint fill_sent_at{};  // read before the first byte of the fill left
  TimePoint deadline{};      // fill_sent_at + the key's TTL, at most + the local maximum
  bool nil = false;          // the server said: no such key
  std::string reply;         // the reply in wire form, ready to be sent; empty for nil
};

}  // namespace heatsink::cache
