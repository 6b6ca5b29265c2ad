// SPDX-License-Identifier: Apache-2.0
// The one table of hot keys and their copies: one writer, any number of readers, no lock.
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

// Why a hot key has no copy although it is hot.
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
// No read of the key is worth a fill; the others concern one read, and those of the same key that
// ask for less may do well.
constexpr bool concerns_whole_key(Uncacheable why) {
  return why == Uncacheable::kNoRoom || why == Uncacheable::kNilQuota ||
         why == Uncacheable::kNoDatabase || why == Uncacheable::kTableFull;
}

// A hot key and its copies, one per read: GET, or HGET of this field, or LRANGE of that range.
// Readers see key, db and the copies; the rest is the writer's.
class alignas(64) Entry {
 public:
  // Past it the copy that was filled first makes slot. A reader looks at each in turn.
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

  // Valid until the reader's next quiescent state. Null: none.
  const Copy* copy(const Read& read) const noexcept {
    for (const std::atomic<const Copy*>& slot : copies_) {
      const Copy* copy = slot.load();
      if (copy != nullptr && copy->read.is(read)) return copy;
    }
    return nullptr;
  }
  // The send time of the latest fill whose value any reader may have been shown. Whoever reads now
  // must not be given the answer to an earlier one, not even where no copy is left.
  TimePoint shown() const noexcept { return TimePoint(Nanos(shown_.load())); }
  bool pinned() const { return pinned_; }  // writer's view; see HotTable::pin()
  // The last refusal that nothing has lifted since; see concerns_whole_key().
  Uncacheable uncacheable() const noexcept { return uncacheable_.load(std::memory_order_relaxed); }

 private:
  friend class HotTable;
  // What every hit looks at stands in the first line, the slot of the first copy too.
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

// Of a string of `value` bytes as a bulk reply: "$", the length in digits, and two line ends. No
// reply of more bytes than this of value_bytes_max is kept.
std::size_t bulk_reply_size(Bytes value);

struct HotTableLimits {
  std::size_t entries_max = 1000;          // keys; each with up to Entry::kCopiesMax copies
  Bytes bytes_max = mebibytes(64);         // of the live copies; replaced ones that readers may
                                           // still look at may take as much again
  Bytes value_bytes_max = kibibytes(256);  // of one reply, without the framing of a string
  std::size_t nil_max = 100;
  Nanos retry_after = std::chrono::seconds(1);  // an uncacheable key is tried again after this
  std::size_t pins_max = 0;                     // of the keys; see pin()
  Bytes pinned_bytes_max = Bytes{0};            // of bytes_max
};

// find() and has() may be called by threads that are online readers of `epochs`; all else by the
// one writer thread. A look-up is one hash probe; publish() copies the index. Keys are told apart
// by name and database; two hot keys with one 64-bit hash cannot both be hot: the second is
// refused.
class HotTable {
 public:
  HotTable(const HotTableLimits& limits, Epochs& epochs);
  ~HotTable();  // REQUIRES no readers
  HotTable(const HotTable&) = delete;

  // Readers. The entry is valid until the reader's next quiescent state.
  const Entry* find(KeyHash hash, std::string_view key, std::uint32_t db) const noexcept;
  bool has(KeyHash hash) const noexcept;  // by hash alone: may err towards true
  bool none() const noexcept;             // no key is hot, so no copy exists
  // Entry::shown() of all keys. Whoever has seen a copy in this table sees at least the send time
  // of the last fill before it: an answer to a fill sent later is not behind what was seen.
  TimePoint shown() const noexcept { return TimePoint(Nanos(shown_.load())); }

  // Writer: the keys. promote() is false when entries_max is reached or the key is there already.
  // REQUIRES a level above kOff.
  bool promote(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
               const ConsistencyPolicy& consistency = {});
  void demote(KeyHash hash);
  void set_rate(KeyHash hash, double rate);
  // A key that is hot because somebody said so: no other key takes its slot or its room, and if
  // the table is full the key of the least rate that is not pinned goes. False: pins_max keys are
  // pinned, or another key has its hash. REQUIRES a level above kOff.
  bool pin(std::string_view key, std::uint32_t db, KeyHash hash, NameHash name,
           const ConsistencyPolicy& consistency);
  void unpin(KeyHash hash);  // it stays hot, as any other
  std::size_t pins_max() const { return limits_.pins_max; }
  void publish();  // makes promotions and demotions visible: `((promote | demote)* publish)*`

  // Writer: the copies. insert() replaces the copy of the same read in one step. When there is no
  // room it evicts the copies of keys that earn least per byte, if all of them together earn less
  // than this key; O(entries) then. False: refused, the read has no copy and the key says why
  // (Entry::uncacheable), or it is hot no longer. `now` of an eviction or refusal is the copy's
  // fill_sent_at.
  bool insert(KeyHash hash, std::unique_ptr<const Copy> copy);
  // The value of the fill sent then is about to be shown: before insert(), and before it is handed
  // to those who wait. Times only rise.
  void note_shown(KeyHash hash, TimePoint fill_sent_at);
  // Lasts until retry() or the next copy; what concerns the whole key drops its copies. Writes do
  // not lift the mark, so that a key that is written often costs one vain fill per retry_after and
  // not one per write.
  void mark(KeyHash hash, Uncacheable why, TimePoint now);
  // In every database. Not 0: copies stay (ConsistencyPolicy::keeps_unproven) that were asked for
  // then or before, and only a fence raised to that, before the next proof, keeps judge() from
  // serving them.
  TimePoint drop_name(std::string_view name);
  void drop_all();
  // All but those that outlive what the proof speaks for: of Level::kTtl, and those of
  // ConsistencyPolicy::keeps_unproven, whose generation has ended. / Those.
  void drop_proof_dependent();
  void drop_proof_independent();
  // The proof has ended and may be long in coming back: as drop_proof_dependent(), but what may be
  // served meanwhile stays (ConsistencyPolicy::stale_while_error). REQUIRES drop_proof_dependent()
  // before the proof is up again.
  void drop_for_outage();
  void retry(TimePoint now);  // clears marks that have waited long enough; O(entries)

  const Entry* entry(KeyHash hash) const;                        // writer's view; null if not hot
  const Copy* copy(KeyHash hash, const StoredRead& read) const;  // likewise; null: none
  bool has_copy(KeyHash hash) const;                             // writer's view: of any read
  // Writer's view: the longest reply among its copies, in wire form; none without a copy.
  std::optional<Bytes> reply_size(KeyHash hash) const;
  // Calls `visit` with each entry that has a copy, in no particular order.
  template <class Visit>
  void for_each_cached(Visit visit) const {
    for (const auto& [hash, entry] : entries_) {
      if (entry->bytes_ > 0) visit(*entry);
    }
  }
  // Calls `visit` with each entry and copy of it, in no particular order. No change meanwhile.
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
  alignas(64) std::atomic<const Index*> index_;  // readers' line, away from what the writer counts
  alignas(64) std::unordered_map<KeyHash, std::unique_ptr<Entry>, HashOfHash> entries_;
  std::unordered_multimap<std::string_view, Entry*> by_name_;  // views of the entries' keys
  std::vector<std::unique_ptr<Entry>> unlinked_;  // demoted, still in the published index
  std::size_t copies_ = 0;
  std::size_t nils_ = 0;
  std::size_t pins_ = 0;
  std::uint64_t bytes_ = 0;
  std::atomic<std::int64_t> shown_{0};
};

}  // namespace heatsink::cache
