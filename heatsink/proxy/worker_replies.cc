// SPDX-License-Identifier: Apache-2.0
// Records the sizes of replies, and closes the largest clients when memory is exhausted.
#include <algorithm>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {

// Each key of a read counts for an equal part of the reply.
void Worker::share_reply(const Pending& pending, std::uint64_t bytes) {
  const std::uint64_t part = bytes / pending.keys.size();
  pending.keys.for_each(
      [&](const copies::TouchedKey& key) { reply_sizes_->remember(key.key, part); });
}

void Worker::answered(const Pending& pending, const Upstream::Answer& answer) {
  if (pending.asked_right) permissions_.record(*pending.asked_right, answer.ok);
  if (answer.ok && pending.reply_of != 0)
    copies_.saw_reply({pending.reply_of}, answer.bytes, loop_.now());
  if (answer.ok && pending.sized_as != 0) note_reply_size(pending, answer.bytes);
  if (pending.kind != PendingKind::kSelect && pending.kind != PendingKind::kOwn)
    (answer.from_shared ? latencies_.shared : latencies_.exclusive)
        .observe(answer.read_at - pending.sent_at);
  if (answer.ok && pending.read_only && reply_sizes_ != nullptr && pending.keys.size() > 0)
    share_reply(pending, answer.bytes);
  if (pending.kind == PendingKind::kCoalesced)
    coalescing_.answered(pending.number, answer.captured, answer.read_at);
}

void Worker::gathered_lost(std::uint32_t number, const std::string& reason) {
  coalescing_.lost(number, reason);
}

// Records the whole reply under the first key; for MGET also each key's part, as the size of its
// GET.
void Worker::note_reply_size(const Pending& pending, std::uint64_t bytes) {
  if (pending.keys.size() == 0) return;
  if (big_replies_.empty() && bytes < BigReplies::kBigBytes) return;
  const bool is_many = pending.sized_as == commands_.mget_sized_as();
  bool first = true;
  pending.keys.for_each([&](const copies::TouchedKey& key) {
    if (std::exchange(first, false))
      big_replies_.record(BigReplies::hash(pending.sized_as, key.key), bytes);
    if (is_many && bytes / pending.keys.size() >= BigReplies::kBigBytes)
      big_replies_.record(BigReplies::hash(commands_.get_sized_as(), key.key),
                          bytes / pending.keys.size());
  });
}

// Closes the largest clients first. A worker knows only its own: one with small clients leaves the
// rest to the other workers' tick().
void Worker::shed() {
  while (shared_.memory.is_exhausted()) {
    const auto largest =
        std::max_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
          return a.second->session.held_bytes() < b.second->session.held_bytes();
        });
    if (largest == clients_.end()) return;
    Session& session = largest->second->session;
    if (session.held_bytes() <= MemoryBudget::kStepBytes) return;
    log_limited(
        LogLevel::kWarning, "shed",
        "proxy.maximum-memory (" + format_bytes(Bytes{shared_.memory.max_bytes()}) +
            ") is used up: closing the largest client, with " +
            format_bytes(Bytes{session.held_bytes()}) +
            " of requests and replies; raise it, or find out why that client reads so slowly",
        loop_.now());
    counters_.add(copies::Count::kClientsShed);
    session.close();
  }
}

}  // namespace heatsink::proxy
