// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/near_mail.h"

#include <utility>

namespace heatsink::copies {

NearMail::NearMail(std::size_t workers, std::function<void(std::size_t worker)> tell,
                   std::function<void(const HeldWriter& writer)> release)
    : tell_(std::move(tell)), release_(std::move(release)) {
  slots_.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) slots_.push_back(std::make_unique<Slot>());
}

// A worker that has been told, and has not taken yet, needs no second word.
template <class Change>
void NearMail::change(std::size_t worker, Change change) {
  Slot& slot = *slots_[worker];
  bool was_told = false;
  {
    const std::lock_guard lock(slot.mutex);
    change(slot.content);
    was_told = std::exchange(slot.is_told, true);
  }
  if (!was_told) tell_(worker);
}

void NearMail::put(std::size_t from, const std::vector<NameHash>& changed,
                   const std::shared_ptr<HeldWriter>& writer, std::size_t more) {
  if (writer) writer->workers_left = slots_.size() - (from == kKeeper ? 0 : 1) + more;
  for (std::size_t worker = 0; worker < slots_.size(); ++worker) {
    if (worker == from) continue;
    change(worker, [&](Content& content) {
      if (content.changed.size() + changed.size() > kNamesMax) {
        content.all_changed = true;
        content.changed.clear();
      }
      if (!content.all_changed)
        content.changed.insert(content.changed.end(), changed.begin(), changed.end());
      if (writer) content.writers.push_back(writer);
    });
  }
}

void NearMail::put_proof_changed() {
  for (std::size_t worker = 0; worker < slots_.size(); ++worker)
    change(worker, [](Content& content) { content.proof_changed = true; });
}

void NearMail::put_lost(const std::vector<bool>& slots) {
  for (std::size_t worker = 0; worker < slots_.size(); ++worker)
    change(worker, [&](Content& content) {
      if (content.lost_slots.empty()) {
        content.lost_slots = slots;
        return;
      }
      for (std::size_t slot = 0; slot < slots.size(); ++slot)
        if (slots[slot]) content.lost_slots[slot] = true;
    });
}

NearMail::Content NearMail::take(std::size_t worker) {
  Slot& slot = *slots_[worker];
  const std::lock_guard lock(slot.mutex);
  slot.is_told = false;
  return std::exchange(slot.content, {});
}

}  // namespace heatsink::copies
