// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/copy_guard.h"

#include <algorithm>
#include <utility>

#include "heatsink/client/early_refresh.h"
#include "heatsink/resp/key_slot.h"

namespace heatsink::client {

// A load that began before a write of the key ended may have missed that write. With a server, a
// value that was shown must not be replaced by the value of an earlier load. So each load raises
// the fence when it ends, and drops the copy unless it has just replaced it. A background load
// counts as shown, because callers may have joined it.
CopyGuard::KeepResult CopyGuard::keep(KeyHash hash, const ServerLink::Watch& watch,
                                      const SharedCachedValue& cached) {
  const NameHash name = name_of(hash);
  const std::lock_guard lock(mutex_);
  note(notes_.filled, hash);
  // A loader of the application may have read from a server that was replaced.
  const bool is_from_server = watch.has_certain_owner || own_reads_.has(hash, watch.tracked_at);
  // Or from a node that has taken over the slot, of which the tracked node has not heard. It would
  // tell the library neither the value's TTL nor its changes (docs/decisions/0129).
  const bool is_of_another_node = watch.server != 0 && watch.is_missing && !cached->missing;
  const bool is_unchanged = watch.is_tracked && is_from_server && !is_of_another_node &&
                            !fences_.write_in_flight(name) &&
                            watch.tracked_at > std::max(fences_.fence(name), all_changed_at_);
  const bool is_kept = is_unchanged && options_.cache_enabled && !parts_.life.is_closed &&
                       parts_.kept.put(hash, cached);
  if (has_server_) {
    fences_.raise(name, now());
    if (!is_kept) parts_.kept.drop(hash);
    if (watch.deadline < cached->loaded_at + options_.expire_after_write)
      note_life(hash, watch.deadline - cached->loaded_at);
  }
  return {is_unchanged, is_kept};
}

void CopyGuard::set_times(CachedValue& cached, TimePoint sent_at, TimePoint loaded_at,
                          TimePoint deadline) {
  cached.loaded_at = sent_at;
  cached.expires_at = std::min(sent_at + options_.expire_after_write, deadline);
  cached.refresh_at = early_refresh_at(cached.expires_at, sent_at, loaded_at - sent_at,
                                       options_.early_refresh, parts_.chance.draw());
}

void CopyGuard::end_cold_load(KeyHash hash) {
  if (!has_server_ || parts_.life.is_in_forked_child || !parts_.kept.has(hash)) return;
  const std::lock_guard lock(mutex_);
  fences_.raise(name_of(hash), now());
  parts_.kept.drop(hash);
}

void CopyGuard::raise_fence_of_cold(KeyHash hash) {
  if (has_server_) fences_.raise(name_of(hash), now());
}

// ---- writes

BegunWrite CopyGuard::begin_write(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  // Overlapping writes may reach the source in either order: then no value is certain to be the
  // last.
  const bool is_alone = !fences_.write_in_flight(name_of(hash));
  fences_.write_begins(name_of(hash));
  if (has_server_) key_changed(hash);  // others may see the write before it has ended
  return {hash, is_alone ? now() : TimePoint::min()};
}

void CopyGuard::end_write(const BegunWrite& write, std::shared_ptr<CachedValue> cached) {
  const NameHash name = name_of(write.hash);
  const std::lock_guard lock(mutex_);
  const TimePoint now = this->now();
  const bool is_first = fences_.fence(name) < write.began_at;
  fences_.write_ends(name, now);
  // With a server, the write itself has ended the tracking of the key. The next load starts it
  // again.
  if (has_server_ || cached == nullptr || !is_first || fences_.write_in_flight(name) ||
      !options_.cache_enabled) {
    key_changed(write.hash);
    return;
  }
  set_times(*cached, now, now);
  parts_.kept.put(write.hash, std::move(cached));
}

// ---- changes by others

void CopyGuard::changed(KeyHash hash) {
  const std::lock_guard lock(mutex_);
  fences_.raise(name_of(hash), now());
  key_changed(hash);
}

void CopyGuard::all_changed() {
  const std::lock_guard lock(mutex_);
  // Stands for a fence of every name: keep() refuses all loads tracked earlier.
  all_changed_at_ = now();
  parts_.kept.drop_all();
}

void CopyGuard::server_changed(topology::ServerIndex server) {
  const std::lock_guard lock(mutex_);
  all_changed_at_ = now();
  parts_.kept.drop_if(
      [server](std::string_view, const CachedValue& cached) { return cached.server == server; });
}

void CopyGuard::slots_changed(const std::vector<bool>& slots) {
  const std::lock_guard lock(mutex_);
  all_changed_at_ = now();
  parts_.kept.drop_if(
      [&slots](std::string_view key, const CachedValue&) { return slots[resp::key_slot(key)]; });
}

// ---- notes

void CopyGuard::key_changed(KeyHash hash) {
  if (parts_.kept.drop_changed(hash)) note(notes_.ended, hash);
  if (parts_.admission == nullptr) return;
  parts_.admission->sightings().forget(hash);
  if (parts_.admission->samples(hash) && notes_.changed.size() < kNotesMax)
    notes_.changed.push_back({hash, true});
}

// A key with a TTL of its own: its copy ends with it.
void CopyGuard::note_life(KeyHash hash, Nanos life) {
  if (parts_.admission == nullptr || !parts_.admission->samples(hash)) return;
  if (notes_.lives.size() < kNotesMax) notes_.lives.push_back({hash, life});
}

// For the list of copies that save most.
void CopyGuard::note(std::vector<KeyHash>& events, KeyHash hash) const {
  if (parts_.admission != nullptr && events.size() < kNotesMax) events.push_back(hash);
}

CopyGuard::Notes CopyGuard::take_notes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

}  // namespace heatsink::client
