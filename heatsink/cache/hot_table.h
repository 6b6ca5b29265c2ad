// SPDX-License-Identifier: Apache-2.0
// The table of all hot keys and their copies: one writer, any number of readers, no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/base/units.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/cache/copy.h"
#include "heatsink/cache/epochs.h"

namespace heatsink::cache {

// Why a hot key has no copy.
enum class Uncacheable : std::uint8_t {
  kNo,
  kTooBig,
  kWrongType,
  kNoRoom,
  kNilQuota,
  kNoDatabase,
  kTableFull,
};
const char* to_string(Uncacheable why);  // a sentence for the user; "" for kNo
// True if no read of the key is worth a fill. The other reasons concern one read; reads of the same
// key with shorter replies may still be cached.
constexpr bool concerns_whole_key(Uncacheable why) {
  return why == Uncacheable::kNoRoom || why == Uncacheable::kNilQuota ||
         why == Uncacheable::kNoDatabase || why == Uncacheable::kTableFull;
}

// A hot key and its copies, one per read: GET, HGET of one field, LRANGE of one range. Readers use
// the key, the database and the copies; the other fields belong to the writer.
class alignas(64) Entry {
 public:
  // Beyond this limit the oldest copy is replaced. A reader checks the slots one by one.
  static constexpr std::size_t kCopiesMax = 8;

  Entry(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
        const ConsistencyPolicy& consistency)
      : key_(key),
        db_(db),
        level_(consistency.level),
        keeps_unproven_(consistency.keeps_unproven),
        max_staleness_(consistency.max_staleness),
        name_(name),
        hash_(hash),
        stale_while_error_(consistency.stale_while_error) {}
  ~Entry();
  Entry(const Entry&) = delete;

  const std::string& key() const { return key_; }
  std::uint32_t db() const { return db_; }
  KeyHash hash() const { return hash_; }
  NameHash name() const { return name_; }
  ConsistencyPolicy consistency() const {
    return {level_, max_staleness_, stale_while_error_, keeps_unproven_};
  }

  // Valid until the reader's next quiescent state. Null: this read has no copy.
  const Copy* copy(const Read& read) const noexcept {
    for (const std::atomic<const Copy*>& slot : copies_) {
      const Copy* copy = slot.load();
      if (copy != nullptr && copy->read.is(read)) return copy;
    }
    return nullptr;
  }
  // The send time of the latest fill whose value a reader may have seen. A reader must not get the
  // answer to an earlier fill, even when no copy is left.
  TimePoint shown() const noexcept { return TimePoint(Nanos(shown_.load())); }
  bool pinned() const { return pinned_; }  // for the writer; see HotTable::pin()
  // The last refusal that still holds; see concerns_whole_key().
  Uncacheable uncacheable() const noexcept { return uncacheable_.load(std::memory_order_relaxed); }

 private:
  friend class HotTable;
  // The fields that every hit reads share the first cache line, with the slot of the first copy.
  const std::string key_;
  const std::uint32_t db_;
  const Level level_;
  const bool keeps_unproven_;
  const Nanos max_staleness_;
  const NameHash name_;
  std::array<std::atomic<const Copy*>, kCopiesMax> copies_{};
  const KeyHash hash_;
  const Nanos stale_while_error_;
  std::atomic<std::int64_t> shown_{0};
  std::atomic<Uncacheable> uncacheable_{Uncacheable::kNo};
  TimePoint retry_at_{};   // when an uncacheable key may be tried again
  double rate_ = 0;        // accesses per second, for eviction
  std::size_t bytes_ = 0;  // of its copies
  bool pinned_ = false;
};

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
  std::size_t pins_max = 0;                     // number of pinned keys; see pin()
  Bytes pinned_bytes_max = Bytes{0};            // part of bytes_max that pinned keys may use
};

// Threads that are online readers of `epochs` may call find(), has(), none() and shown(). The one
// writer thread calls everything else. A look-up is one hash probe; publish() copies the index. A
// key is a name and a database. Of two keys with the same 64-bit hash only one can be hot: the
// table refuses the second.
class HotTable {
 public:
  HotTable(const HotTableLimits& limits, Epochs& epochs);
  ~HotTable();  // REQUIRES no readers
  HotTable(const HotTable&) = delete;

  // Readers. The entry is valid until the reader's next quiescent state.
  const Entry* find(KeyHash hash, std::string_view key, std::uint32_t db) const noexcept;
  bool has(KeyHash hash) const noexcept;  // compares hashes only: may err towards true
  bool none() const noexcept;             // true: no key is hot, so no copy exists
  // The maximum of Entry::shown() over all keys. A reader that has seen a copy of this table sees
  // at least the send time of that copy's fill here. So the answer to a fill sent later is not
  // older than what the reader saw.
  TimePoint shown() const noexcept { return TimePoint(Nanos(shown_.load())); }

  // Writer, keys. promote() returns false if entries_max is reached or the key is in the table.
  // REQUIRES a level above kOff.
  bool promote(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
               const ConsistencyPolicy& consistency = {});
  void demote(KeyHash hash);
  void set_rate(KeyHash hash, double rate);
  // Makes a key hot by order. No other key takes its entry or its share of the memory. If the table
  // is full, the unpinned key with the lowest rate leaves. False: pins_max keys are pinned, or
  // another key has the same hash. REQUIRES a level above kOff.
  bool pin(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
           const ConsistencyPolicy& consistency);
  void unpin(KeyHash hash);  // the key stays hot, like any other
  std::size_t pins_max() const { return limits_.pins_max; }
  void publish();  // makes promotions and demotions visible: `((promote | demote)* publish)*`

  // Writer, copies. insert() replaces the copy of the same read in one step. Without room it evicts
  // the copies of the keys that earn least per byte, if together they earn less than this key; that
  // takes O(entries). False: the copy is refused, the read then has no copy and
  // Entry::uncacheable() has the reason; or the key is no longer hot. The time of an eviction or
  // refusal is the copy's fill_sent_at.
  bool insert(KeyHash hash, std::unique_ptr<const Copy> copy);
  // The value of this fill is about to be shown. Call it before insert() and before the waiting
  // clients get the value. Times only rise.
  void note_shown(KeyHash hash, TimePoint fill_sent_at);
  // Marks the key until retry() or its next copy. A reason that concerns the whole key drops its
  // copies. Writes do not clear the mark: a key with many writes costs one useless fill per
  // retry_after, not one per write.
  void mark(KeyHash hash, Uncacheable why, TimePoint now);
  // Drops the name's copies in every database. A result other than 0 means that copies stayed
  // (ConsistencyPolicy::keeps_unproven), with fills sent at that time or earlier. The caller must
  // raise the fence to it before the next proof, so that judge() does not serve them.
  TimePoint drop_name(std::string_view name);
  void drop_all();
  // Drops the copies that need a proof. Copies of Level::kTtl, and those of
  // ConsistencyPolicy::keeps_unproven (whose generation has ended), stay. drop_proof_independent()
  // drops exactly these.
  void drop_proof_dependent();
  void drop_proof_independent();
  // For a proof that has ended and may not return soon. Like drop_proof_dependent(), but copies
  // that an outage may serve stay (ConsistencyPolicy::stale_while_error). REQUIRES
  // drop_proof_dependent() before the proof is up again.
  void drop_for_outage();
  void retry(TimePoint now);  // clears marks older than retry_after; O(entries)

  const Entry* entry(KeyHash hash) const;  // for the writer; null if the key is not hot
  const Copy* copy(KeyHash hash, const StoredRead& read) const;  // for the writer; null: no copy
  bool has_copy(KeyHash hash) const;  // for the writer: a copy of any read
  // For the writer: the longest reply among the key's copies, in wire form; empty without a copy.
  std::optional<Bytes> reply_size(KeyHash hash) const;
  // Calls `visit` with each entry that has a copy, in no particular order.
  template <class Visit>
  void for_each_cached(Visit visit) const {
    for (const auto& [hash, entry] : entries_) {
      if (entry->bytes_ > 0) visit(*entry);
    }
  }
  // Calls `visit` with each entry and each of its copies, in no particular order. `visit` must not
  // change the table.
  template <class Visit>
  void for_each_copy(Visit visit) const {
    for_each_cached([&visit](const Entry& entry) {
      for (const CopySlot& slot : entry.copies_) {
        if (const Copy* copy = slot.load(std::memory_order_relaxed)) visit(entry, *copy);
      }
    });
  }
  std::size_t size() const { return entries_.size(); }
  std::size_t copies() const { return copies_; }
  Bytes bytes() const { return Bytes{bytes_}; }

 private:
  struct Index;
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };

  struct Victim;
  using CopySlot = std::atomic<const Copy*>;

  static CopySlot& slot_for(Entry& entry, const Copy& copy);
  bool demote_coldest();
  bool pins_have_room(const Entry& wanted, const Copy& copy, const Copy* old) const;
  Uncacheable admit(const Entry& entry, const Copy& copy, const Copy* old);
  bool make_room(const Entry& wanted, const Copy& copy, const Copy* old);
  std::vector<Victim> worth_less(const Entry& wanted, double worth) const;
  bool may_retire(std::size_t bytes);
  void replace(Entry& entry, CopySlot& slot, const Copy* copy);
  void drop(Entry& entry);
  template <class Which>
  void drop_if(Which which);
  void mark(Entry& entry, Uncacheable why, TimePoint now);
  void set_mark(Entry& entry, Uncacheable why, TimePoint now) const;
  static std::size_t cost(const Entry& entry, const Copy& copy);

  const HotTableLimits limits_;
  Epochs& epochs_;
  // Readers load it: a cache line apart from the writer's counts.
  alignas(64) std::atomic<const Index*> index_;
  alignas(64) std::unordered_map<KeyHash, std::unique_ptr<Entry>, HashOfHash> entries_;
  std::unordered_multimap<std::string_view, Entry*> by_name_;  // views of the entries' keys
  std::vector<std::unique_ptr<Entry>> unlinked_;  // demoted, but still in the published index
  std::size_t copies_ = 0;
  std::size_t nils_ = 0;
  std::size_t pins_ = 0;
  std::uint64_t bytes_ = 0;
  std::atomic<std::int64_t> shown_{0};
};

}  // namespace heatsink::cache
