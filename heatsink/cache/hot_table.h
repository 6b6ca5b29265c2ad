// SPDX-License-Identifier: Apache-2.0
// The table of all hot keys and their copies: one writer, any number of readers, no lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/base/units.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/cache/copy.h"
#include "heatsink/cache/databases.h"
#include "heatsink/cache/entry.h"
#include "heatsink/cache/epochs.h"
#include "heatsink/cache/eviction_queue.h"
#include "heatsink/cache/hot_index.h"
#include "heatsink/cache/name_chains.h"

namespace heatsink::cache {

// The length of a bulk reply with a string of `value` bytes: "$", the digits of the length, and two
// line ends. The table keeps no reply longer than bulk_reply_size(value_bytes_max).
std::size_t bulk_reply_size(Bytes value);

struct HotTableLimits {
  std::size_t entries_max = 1000;          // keys; each has up to Entry::kCopiesMax copies
  Bytes bytes_max = mebibytes(64);         // of live copies; replaced copies that readers
                                           // still hold may occupy as much again
  Bytes value_bytes_max = kibibytes(256);  // of one reply, without the framing of a string
  std::size_t nil_max = 100;
  Nanos retry_after = std::chrono::seconds(1);  // pause before an uncacheable key is tried again
  std::size_t retained_max = 0;                 // number of retained keys; see retain()
  Bytes retained_bytes_max = Bytes{0};          // part of bytes_max that retained keys may use
};

// Why the table evicted a key.
enum class EvictionReason : std::uint8_t {
  kEntries,  // another key needed its entry
  kBytes,    // a copy of another key needed the room of its copies
};
// Counts since the start. An age is the time since the key became hot, by the times that the writer
// has given the table (so to the interval of retry()).
struct Evictions {
  std::uint64_t count = 0;
  Nanos age_sum{0};
  Nanos last_age{0};
};

// Threads that are online readers of `epochs` may call find(), has(), none(), shown() and
// raise_fence(). The one writer thread calls everything else. A look-up is one hash probe. Each
// change is visible to all readers when the call returns. A key is a name and a database. Of two
// keys with the same 64-bit hash only one can be hot: the table refuses the second.
//
// Room for an entry or a copy is made by evicting other keys in one order (EvictionQueue), except
// the retained ones. A key takes 192 bytes for its entry, 18 to 37 for the index and 8 to 16 for
// its name's chain, besides its name and its copies. The allocator adds up to 64.
class HotTable {
 public:
  HotTable(const HotTableLimits& limits, Epochs& epochs);
  ~HotTable();  // REQUIRES no readers
  HotTable(const HotTable&) = delete;

  // Readers. The entry is valid until the reader's next quiescent state.
  const Entry* find(KeyHash hash, std::string_view key, std::uint32_t db) const noexcept;
  bool has(KeyHash hash) const noexcept;  // compares hashes only: may err towards true
  void load(KeyHash hash) const noexcept { index_.load(hash); }  // begins to load what they read
  // True: no key is hot, so no copy exists.
  bool none() const noexcept { return size_.load() == 0; }
  // The maximum of Entry::shown() over all keys. A reader that has seen a copy of this table sees
  // at least the send time of that copy's fill here. So the answer to a fill sent later is not
  // older than what the reader saw.
  TimePoint shown() const noexcept { return TimePoint(Nanos(shown_.load())); }

  // Raise the fence of the key, or those of the name in all databases (fences.h). A key that is not
  // in the table needs none.
  void raise_fence(KeyHash key, TimePoint now) const noexcept {
    if (none()) return;
    if (const Entry* const entry = find_entry(key)) entry->raise_fence(now);
  }
  void raise_fence(NameHash name, TimePoint now) const noexcept {
    if (none()) return;
    databases_.for_each([&](std::uint32_t db) { raise_fence(in_db(name, db), now); });
  }

  // Writer, keys. A key is visible at once. While it was not hot, its replies raised no fence. So
  // its fence begins at `now`, or at the latest time of note_sent(): its copies and its readers
  // need a fill that was sent later, and so after it was visible.

  // Makes a key hot until demote(), although its copies may be evicted (kNoRoom). Only admit() and
  // retain() take its entry. False: entries_max is reached, or the key is in the table. REQUIRES a
  // level above kOff.
  bool promote(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name, TimePoint now,
               const ConsistencyPolicy& consistency = {});
  // Makes a key hot until it is evicted. If the table is full, another key leaves. False: the key
  // is in the table, or all others stay. REQUIRES a level above kOff.
  bool admit(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name, TimePoint now,
             const ConsistencyPolicy& consistency = {});
  bool has_room() const { return size() < limits_.entries_max; }  // for promote()
  // From now on the key stays, as after promote(). False: it is not in the table.
  bool hold(KeyHash hash);
  // From now on the key may be evicted, as after admit(). Its copy remains until then.
  void release(KeyHash hash);
  void demote(KeyHash hash);
  // From now on. Any time; O(1).
  void set_order(EvictionOrder order) { queue_.set_order(order); }
  EvictionOrder order() const { return queue_.order(); }
  // Makes a key hot by order. No other key takes its entry or its share of the memory. If the table
  // is full, another key leaves. False: retained_max keys are retained, or another key has the same
  // hash. REQUIRES a level above kOff.
  bool retain(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name, TimePoint now,
              const ConsistencyPolicy& consistency);
  void stop_retaining(KeyHash hash);  // the key stays hot, like any other
  bool may_retain() const { return retained_.size() < limits_.retained_max; }  // for one more
  std::size_t retained_max() const { return limits_.retained_max; }
  const Evictions& evictions(EvictionReason reason) const {
    return evictions_[static_cast<std::size_t>(reason)];
  }

  // A fill is about to be sent: call it with its time before a key enters the table later.
  void note_sent(TimePoint sent_at) { last_sent_at_ = std::max(last_sent_at_, sent_at); }

  // Writer, copies. insert() replaces the copy of the same read in one step. Without room it evicts
  // other keys until there is some; of keys that promote() made hot, only the copies. O(evicted
  // keys), besides those passed over that promote() made hot and that have no copy. Nothing is
  // evicted for copies that are too large in any case. False: the copy is refused, the read then
  // has no copy and Entry::uncacheable() has the reason; or the key is no longer hot. The time of
  // an eviction or refusal is the copy's fill_sent_at.
  bool insert(KeyHash hash, std::unique_ptr<const Copy> copy);
  // The value of this fill is about to be shown. Call it before insert() and before the waiting
  // clients get the value. Times only rise.
  void note_shown(KeyHash hash, TimePoint fill_sent_at);
  // Marks the key until retry() or its next copy. A reason that concerns the whole key drops its
  // copies. Writes do not clear the mark: a key with many writes costs one useless fill per
  // retry_after, not one per write.
  void mark(KeyHash hash, Uncacheable why, TimePoint now);
  // The name has changed: drops its copies in every database. A key of admit() whose copies have
  // served fewer reads than set_reads_to_pay() leaves with them and has to earn them again, unless
  // its value's TTL is about over: the server reports that, too. Copies that stay
  // (ConsistencyPolicy::keeps_unproven) are behind their fence from now on: judge() does not serve
  // them after the next proof.
  void drop_name(std::string_view name, NameHash hash);
  // Drops the copies of one key, which stays hot if it stays() or is retained, and leaves
  // otherwise. Fills that were sent until now make none. What readers may have seen is not known to
  // be old, so a read that is under way may still be answered from a copy.
  void drop_key(KeyHash hash, TimePoint now) {
    Entry* const entry = find_entry(hash);
    if (entry == nullptr) return;
    if (!entry->stays()) return demote(*entry);
    entry->raise_fence(std::max(now, last_sent_at_));
    drop(*entry);
  }
  std::uint64_t left_early() const { return left_early_; }  // keys that drop_name() made leave
  // Reads that a copy has to answer to be worth its fill, 1 .. Copy::kReadsCounted. From now on; 1
  // at first.
  void set_reads_to_pay(std::uint32_t reads) { reads_to_pay_ = reads; }
  // Drops all copies that depend on this proof.
  void drop_all(ProofIndex proof = 0);
  // Drops the copies that need it. Copies of Level::kTtl, and those of
  // ConsistencyPolicy::keeps_unproven (whose generation has ended), stay. drop_proof_independent()
  // drops exactly these.
  void drop_proof_dependent(ProofIndex proof = 0);
  void drop_proof_independent(ProofIndex proof = 0);
  // For a proof that has ended and may not return soon. Like drop_proof_dependent(), but copies
  // that an outage may serve stay (ConsistencyPolicy::stale_while_error). REQUIRES
  // drop_proof_dependent() before the proof is up again.
  void drop_for_outage(ProofIndex proof = 0);
  // Drops the copies of the keys that `which(entry)` names.
  template <class Which>
  void drop_keys_if(Which which) {
    for_each_entry([&](Entry& entry) {
      if (entry.bytes_ > 0 && which(std::as_const(entry))) drop(entry);
    });
  }
  void retry(TimePoint now);  // clears marks older than retry_after; O(marks)
  // Looks at the next `count` keys, in turn with those of earlier calls. Those of admit() leave
  // that had no fill since then.
  void drop_unfilled(TimePoint since, std::size_t count);

  // Writer, changes of the configuration. They hold for each look-up after the call; a reader that
  // looks up meanwhile may still see what was before.

  // Keys and copies that do not fit any more leave in the order of eviction; of retained keys only
  // copies that are too large. Retained keys stay.
  void set_limits(const HotTableLimits& limits);
  // `policy_of(entry)`: the consistency of its copies from now on; nothing: the key leaves, also a
  // retained one. Copies stay: the key rule decides about each at each read.
  template <class PolicyOf>
  void set_policies(PolicyOf policy_of) {
    leaving_.clear();
    for_each_entry([&](Entry& entry) {
      if (const std::optional<ConsistencyPolicy> consistency = policy_of(std::as_const(entry))) {
        entry.set_consistency(*consistency);
      } else {
        leaving_.push_back(&entry);
      }
    });
    for (Entry* const entry : leaving_) demote(*entry);
  }
  // Drops the copies that would live longer than this after their fill.
  void drop_longer_lived(Nanos life);

  const Entry* entry(KeyHash hash) const;  // for the writer; null if the key is not hot
  const Copy* copy(KeyHash hash, const StoredRead& read) const;  // for the writer; null: no copy
  bool has_copy(KeyHash hash) const;  // for the writer: a copy of any read
  // For the writer: the longest reply among the key's copies, in wire form; empty without a copy.
  std::optional<Bytes> reply_size(KeyHash hash) const;
  // Calls `visit` with each entry that has a copy, in no particular order.
  template <class Visit>
  void for_each_cached(Visit visit) const {
    for_each_entry([&visit](const Entry& entry) {
      if (entry.bytes_ > 0) visit(entry);
    });
  }
  // The same for the entries of one name, in all databases.
  template <class Visit>
  void for_each_cached_of(std::string_view name, NameHash hash, Visit visit) {
    names_.for_each(name, hash, [&visit](const Entry& entry) {
      if (entry.bytes_ > 0) visit(entry);
    });
  }
  // Calls `visit` with each entry and each of its copies, in no particular order. `visit` must not
  // change the table.
  template <class Visit>
  void for_each_copy(Visit visit) const {
    for_each_cached([&visit](const Entry& entry) {
      entry.for_each_copy([&](const Copy& copy) { visit(entry, copy); });
    });
  }
  // The same for the keys that stay (promote(), hold(), retain()) only. O(those keys).
  template <class Visit>
  void for_each_held_copy(Visit visit) const {
    for (const std::uint64_t hash : held_) {
      const Entry& entry = *find_entry(KeyHash{hash});
      entry.for_each_copy([&](const Copy& copy) { visit(entry, copy); });
    }
  }
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  std::size_t copies() const { return copies_; }
  Bytes bytes() const { return Bytes{bytes_}; }

 private:
  using CopySlot = std::atomic<const Copy*>;

  static CopySlot& slot_for(Entry& entry, const Copy& copy);
  Entry* find_entry(KeyHash hash) const;
  Entry& add(std::string_view key, std::uint32_t db, NameHash name, TimePoint now,
             const ConsistencyPolicy& consistency);
  void demote(Entry& entry);
  bool make_room_for_entry(bool of_any);
  void evict(Entry& entry, EvictionReason reason);
  bool retained_have_room(const Entry& wanted, const Copy& copy, const Copy* old) const;
  Uncacheable admit_copy(const Entry& entry, const Copy& copy, const Copy* old);
  bool make_room(const Entry& wanted, const Copy& copy, const Copy* old);
  bool may_retire(std::size_t bytes);
  void replace(Entry& entry, CopySlot& slot, const Copy* copy);
  void drop(Entry& entry);
  bool is_worth_another(const Entry& entry) const;
  void set_stays(Entry& entry, bool stays);
  template <class Visit>
  void for_each_entry(Visit visit) const {
    queue_.for_each(visit);
    retained_.for_each(visit);
  }
  template <class Which>
  void drop_if(ProofIndex proof, Which which);
  template <class Which>
  void drop_copies_if(Which which);
  void mark(Entry& entry, Uncacheable why, TimePoint now);
  void set_mark(Entry& entry, Uncacheable why, TimePoint now);
  void note_time(TimePoint now) { latest_ = std::max(latest_, now); }
  static std::size_t cost(const Entry& entry, const Copy& copy);

  HotTableLimits limits_;
  Epochs& epochs_;
  HotIndex index_;
  std::atomic<std::size_t> size_{0};
  Databases databases_;
  alignas(64) NameChains names_;
  EvictionQueue<Entry> queue_;              // the entries that are not retained
  EvictionQueue<Entry> retained_;           // the others; their order has no meaning
  std::unordered_set<std::uint64_t> held_;  // the hashes of the entries that stay
  std::vector<Entry*> leaving_;             // scratch of drop_name()
  std::vector<KeyHash> marked_;             // keys marked uncacheable; some may have left since
  std::array<Evictions, 2> evictions_{};
  std::uint64_t left_early_ = 0;
  std::uint32_t reads_to_pay_ = 1;
  std::size_t copies_ = 0;
  std::size_t nils_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t retained_bytes_ = 0;  // part of bytes_
  TimePoint latest_{};                // the latest time that the writer has given
  TimePoint last_sent_at_{};          // see note_sent()
  std::atomic<std::int64_t> shown_{0};
};

}  // namespace heatsink::cache
