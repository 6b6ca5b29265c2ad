// SPDX-License-Identifier: Apache-2.0
// Remembers how big the servers' replies to one worker were, and how long they took.
#pragma once

#include <atomic>
#include <cstdint>

#include "heatsink/command/known_commands.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/reply_sizes.h"
#include "heatsink/copies/sampled_sizes.h"
#include "heatsink/session/latencies.h"
#include "heatsink/upstream/big_replies.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

// One per worker; its thread, except where a comment says otherwise. Costs one or two histogram
// entries per reply; of reads also one entry of a table, or a decrement where no rule counts bytes.
class ReplyFigures {
 public:
  // `commands` outlives it. `counts`: whether accesses are counted at all.
  ReplyFigures(const KnownCommands& commands, bool counts, ReplySizes* sizes, std::uint64_t seed)
      : commands_(commands), counts_(counts), sampled_(seed) {
    set_reply_sizes(sizes);
  }
  ReplyFigures(const ReplyFigures&) = delete;

  // The table of the access counter, which outlives it; null: no rule counts bytes, so that
  // replies are sampled.
  void set_reply_sizes(ReplySizes* sizes) {
    reply_sizes_ = sizes;
    samples_.store(counts_ && sizes == nullptr, std::memory_order_relaxed);
  }

  // A reply has ended.
  void answered(const Pending& pending, const Upstream::Answer& answer) {
    if (answer.ok && pending.sized_as != 0) note_size(pending, answer.bytes);
    if (pending.kind != PendingKind::kSelect && !pending.is_dropped())
      (answer.from_shared ? latencies_.shared : latencies_.exclusive)
          .observe(answer.read_at - pending.sent_at);
    if (answer.ok && pending.read_only && pending.keys.size() > 0)
      share_among_keys(pending, answer.bytes);
  }
  // The size of a reply, or a lower bound, as soon as it is known. REQUIRES Pending::sized_as.
  void note_size(const Pending& pending, std::uint64_t bytes) {
    if (pending.keys.size() == 0) return;
    if (!big_.empty() || bytes >= BigReplies::kBigBytes) note_big(pending, bytes);
  }

  const BigReplies& big() const { return big_; }
  Latencies& latencies() { return latencies_; }
  const Latencies& latencies() const { return latencies_; }  // any thread
  // Any thread. Null: the access counter has all sizes, or nothing is counted.
  const copies::SampledSizes* sampled() const {
    return samples_.load(std::memory_order_relaxed) ? &sampled_ : nullptr;
  }

 private:
  void note_big(const Pending& pending, std::uint64_t bytes);
  void share_among_keys(const Pending& pending, std::uint64_t bytes);

  const KnownCommands& commands_;
  const bool counts_;
  ReplySizes* reply_sizes_ = nullptr;
  copies::SampledSizes sampled_;
  std::atomic<bool> samples_{false};
  BigReplies big_;
  Latencies latencies_;
};

}  // namespace heatsink::proxy
