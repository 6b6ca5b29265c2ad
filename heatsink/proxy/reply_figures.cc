// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/reply_figures.h"

#include <utility>

namespace heatsink::proxy {

// Each key of a read counts for an equal part of the reply.
void ReplyFigures::share_among_keys(const Pending& pending, std::uint64_t bytes) {
  if (reply_sizes_ == nullptr && !sampled_.looks_at_next()) return;
  const std::uint64_t part = bytes / pending.keys.size();
  pending.keys.for_each([&](const copies::TouchedKey& key) {
    if (reply_sizes_ != nullptr)
      reply_sizes_->remember(key.key, part);
    else
      sampled_.add(key.key, part);
  });
}

// Records the whole reply under the first key; for MGET also each key's part, as the size of its
// GET.
void ReplyFigures::note_big(const Pending& pending, std::uint64_t bytes) {
  const bool is_many = pending.sized_as == commands_.mget_sized_as();
  bool first = true;
  pending.keys.for_each([&](const copies::TouchedKey& key) {
    if (std::exchange(first, false))
      big_.record(BigReplies::hash(pending.sized_as, key.key), bytes);
    if (is_many && bytes / pending.keys.size() >= BigReplies::kBigBytes)
      big_.record(BigReplies::hash(commands_.get_sized_as(), key.key), bytes / pending.keys.size());
  });
}

}  // namespace heatsink::proxy
