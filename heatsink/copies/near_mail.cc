// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/near_mail.h"

#include <utility>

namespace heatsink::copies {

NearMail::NearMail(std::size_t workers) {
  slots_.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) slots_.push_back(std::make_unique<Slot>());
}

bool NearMail::put(std::size_t worker, const std::vector<NameHash>& changed,
                   std::shared_ptr<HeldWriter> writer) {
  Slot& slot = *slots_[worker];
  const std::lock_guard lock(slot.mutex);
  Content& content = slot.content;
  if (content.changed.size() + changed.size() > kNamesMax) {
    content.all_changed = true;
    content.changed.clear();
  }
  if (!content.all_changed)
    content.changed.insert(content.changed.end(), changed.begin(), changed.end());
  if (writer) content.writers.push_back(std::move(writer));
  return !std::exchange(slot.is_told, true);
}

bool NearMail::put_proof_changed(std::size_t worker) {
  Slot& slot = *slots_[worker];
  const std::lock_guard lock(slot.mutex);
  slot.content.proof_changed = true;
  return !std::exchange(slot.is_told, true);
}

NearMail::Content NearMail::take(std::size_t worker) {
  Slot& slot = *slots_[worker];
  const std::lock_guard lock(slot.mutex);
  slot.is_told = false;
  return std::exchange(slot.content, {});
}

}  // namespace heatsink::copies
