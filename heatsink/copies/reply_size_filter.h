// SPDX-License-Identifier: Apache-2.0
// Which reads may be asked for on the tracking connection: those lately seen to be small.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/units.h"
#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {

// A long reply on the tracking connection delays the invalidations behind it, so a read that may
// have one goes to the server on an ordinary connection first; its copy is asked for when it is
// read again (docs/decisions/0007-a-read-is-seen-before-it-is-kept.md). That also keeps out what is
// asked only once.
//
// One worker's thread. A fixed table of the latest reads; one that is pushed out is seen again.
class ReplySizeFilter {
 public:
  explicit ReplySizeFilter(Bytes reply_max) : reply_max_(reply_max.count) {}

  // What was seen counts for this long: copies live no longer without being read again.
  static constexpr Nanos kMemory = std::chrono::seconds(30);
  // A read that the tracker was refused, or was too long for it, is not tried again for this long.
  static constexpr Nanos kRefusal = std::chrono::seconds(1);

  enum class Answer : std::uint8_t { kUnknown, kFits, kDoesNotFit };

  Answer look_up(ReadHash read, TimePoint now) const {
    const Seen* seen = seen_.find(read);
    if (seen == nullptr || now >= seen->until) return Answer::kUnknown;
    return seen->bytes <= reply_max_ ? Answer::kFits : Answer::kDoesNotFit;
  }
  void record_reply(ReadHash read, std::uint64_t reply_bytes, TimePoint now) {
    seen_.put(read, {reply_bytes, now + kMemory});
  }
  void record_refusal(ReadHash read, TimePoint now) {
    seen_.put(read, {UINT64_MAX, now + kRefusal});
  }

 private:
  struct Seen {
    std::uint64_t bytes = 0;
    TimePoint until{};
  };

  const std::uint64_t reply_max_;
  DirectMappedTable<ReadHash, Seen, 4096> seen_;  // 96 KiB
};

}  // namespace heatsink::copies
