// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/permission_cache.h"

namespace heatsink::copies {

// Renews at half of its life, so that a key in use never loses its proof. If no answer comes, it
// renews again after another quarter.
PermissionCache::Answer PermissionCache::look_up(const Right& right, TimePoint now,
                                                 TimePoint changed_at) {
  Proof* proof = permissions_ ? permissions_->find(right) : nullptr;
  if (proof == nullptr) return Answer::kUnproven;
  const Nanos age = now - proof->asked_at;
  if (age > life_ || proof->asked_at <= changed_at) return Answer::kUnproven;
  if (age <= life_ / 2 || now - proof->renewed_at <= life_ / 4) return Answer::kProven;
  proof->renewed_at = now;
  return Answer::kAgeing;
}

void PermissionCache::record(const AskedRight& asked, bool allowed) {
  if (!allowed) {
    if (permissions_) permissions_->erase(asked.right);
    return;
  }
  if (!permissions_) permissions_ = std::make_unique<Table>();
  const Proof* known = permissions_->find(asked.right);
  // Replies come on several connections, in any order: the latest question counts.
  if (known == nullptr || known->asked_at < asked.asked_at)
    permissions_->put(asked.right, {asked.asked_at, asked.asked_at});
}

}  // namespace heatsink::copies
