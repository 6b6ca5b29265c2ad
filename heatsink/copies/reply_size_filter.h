// SPDX-License-Identifier: Apache-2.0
// Decides which reads may use the tracking connection: those with a reply known to be small.
#pragma once

#include <cstdint>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/units.h"
#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {

// A long reply on the tracking connection delays the invalidations behind it. So a read of unknown
// size first goes to the server on an ordinary connection, and a copy is requested at its second
// occurrence (docs/decisions/0007-a-read-is-seen-before-it-is-kept.md). This also keeps out
// one-time reads.
//
// One worker's thread. A fixed table of the latest reads; an overwritten read starts again.
class ReplySizeFilter {
 public:
  explicit ReplySizeFilter(Bytes reply_max) : reply_max_(reply_max.count) {}

  void set_max(Bytes reply_max) { reply_max_ = reply_max.count; }

  // How long a size stays known. Copies without hits live no longer either.
  static constexpr Nanos kMemory = std::chrono::seconds(30);
  // How long a read that the tracker could not fill is not tried again.
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

  std::uint64_t reply_max_;
  DirectMappedTable<ReadHash, Seen, 4096> seen_;  // 96 KiB
};

}  // namespace heatsink::copies
