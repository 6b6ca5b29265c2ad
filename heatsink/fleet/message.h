// SPDX-License-Identifier: Apache-2.0
// The value that an instance, or a merger of a fleet, writes to the server: summaries, and of how
// many instances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/summary.h"

namespace heatsink::fleet {

// A report of one instance, or the merged list of several.
struct Message {
  std::uint64_t sequence = 0;            // of a list: rises with each merge
  std::uint64_t instances = 1;           // that have counted
  Nanos step{0};                         // how often each of them reports at the least
  Nanos refresh{0};                      // of a list: how often it is merged at the least
  std::vector<detect::Summary> windows;  // of different measures

  const detect::Summary* window_of(const detect::Measure& measure) const;  // null: it has none
};

struct MessageBounds {
  std::size_t bytes_max;
  std::size_t keys_max;  // in each window
  std::uint64_t instances_max;
};
MessageBounds report_bounds();
MessageBounds list_bounds(std::uint64_t shards);

// "HFlt"  version (1 byte)  XXH3-64 with seed 0 of all that follows (8 bytes, low ones first)
// sequence, instances, step in ns, number of windows; each window: size, detect/wire.h's form.
// refresh in ns (absent in old builds: half a step).
// Numbers are LEB128. Later builds may append bytes, which this one ignores.
std::string encode(const Message& message);

// Errors: kUnsupported, a version that this build cannot read; kProtocol, not a message, damaged,
// beyond the bounds, or impossible (more accesses of its keys than accesses in all). A sender can
// still lie within the bounds: docs/guides/fleet.md has what that may cause. Memory grows with the
// bytes read.
Result<Message> decode(std::string_view bytes, const MessageBounds& bounds, std::uint64_t seed,
                       TimePoint at);

}  // namespace heatsink::fleet
