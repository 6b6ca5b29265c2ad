// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/near_pushes.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "heatsink/upstream/requester.h"

namespace heatsink::proxy {

// The fences were raised before has() looks (kept_names.h).
void NearPushes::written(const Pending& pending) {
  std::vector<NameHash> names;
  pending.keys.for_each([&](const copies::TouchedKey& key) {
    if (key.write && shared_.kept_names.has(key.name)) names.push_back(key.name);
  });
  if (names.empty()) return;
  copies::HeldClient* const writer = pending.session;
  const bool is_here = writer != nullptr && !writer->closed();
  const std::uint64_t id = is_here ? writer->id() : 0;
  for (const NameHash name : names) table_.changed(name, id);
  const bool waits_here = table_.is_telling();
  if (!mail_.has_others() && !waits_here) return;
  std::shared_ptr<copies::HeldWriter> held;
  if (is_here && !writer->closed()) {
    writer->hold();
    held = std::make_shared<copies::HeldWriter>();
    held->worker = worker_;
    held->session = id;
  }
  if (held && waits_here) waiting_.push_back({table_.begun(), held});
  mail_.put(worker_, names, held, waits_here ? 1 : 0);
}

// The next slice follows in the next turn.
void NearPushes::tell_more() {
  table_.tell_more();
  for (; !waiting_.empty() && waiting_.front().until <= table_.told(); waiting_.pop_front())
    mail_.marked(*waiting_.front().writer);
  if (table_.is_telling()) loop_.post([] {});
}

void NearPushes::take_mail() {
  const copies::NearMail::Content mail = mail_.take(worker_);
  if (mail.all_changed) {
    table_.all_changed();
  } else {
    for (const NameHash name : mail.changed) table_.changed(name);
  }
  if (!mail.lost_slots.empty()) table_.slots_lost(mail.lost_slots);
  if (mail.proof_changed) look(Nanos(0));
  const bool waits = table_.is_telling();
  for (const auto& writer : mail.writers) {
    if (waits) {
      waiting_.push_back({table_.begun(), writer});
    } else {
      mail_.marked(*writer);
    }
  }
}

void NearPushes::follow_policy() {
  const copies::PolicySnapshot& policy = shared_.current();
  if (policy.client_keeping.empty()) return;
  std::vector<NameHash> ended;
  for (std::size_t number = 0; number < table_.name_numbers(); ++number) {
    const auto name = table_.name_at(number);
    if (name && !policy.clients_may_keep(name->key)) ended.push_back(name->hash);
  }
  for (const NameHash name : ended) table_.changed(name);
}

void NearPushes::look(Nanos next_look) { table_.look(shared_.proofs, loop_.clock() + next_look); }

Nanos NearPushes::look_interval() const {
  return std::clamp(table_.shortest_bound() / 16, kLookIntervalMin, kLookInterval);
}

// What would not hold at the next look ends now, so no client keeps a name for longer than its
// bound.
void NearPushes::look_later() {
  timer_ = loop_.call_after(look_interval(), [this] {
    timer_ = 0;
    look(look_interval());
    figures_.walk(table_, loop_.clock());
  });
}

}  // namespace heatsink::proxy
