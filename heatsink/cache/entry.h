// SPDX-License-Identifier: Apache-2.0
// A hot key with its copies. Readers look at it while the one writer changes it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/hash.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/cache/copy.h"

namespace heatsink::cache {

// The later one of the two times stays, whichever thread is last.
inline void raise_to(std::atomic<std::int64_t>& fence, TimePoint now) noexcept {
  const std::int64_t wanted = now.time_since_epoch().count();
  std::int64_t seen = fence.load(std::memory_order_relaxed);
  while (seen < wanted && !fence.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel)) {
  }
}

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

  // `since`: its fence at first.
  Entry(std::string_view key, std::uint32_t db, NameHash name, const ConsistencyPolicy& consistency,
        TimePoint since)
      : key_(key),
        db_(db),
        level_(packed(consistency)),
        max_staleness_(consistency.max_staleness.count()),
        name_(name),
        stale_while_error_ms_(milliseconds(consistency.stale_while_error)),
        fence_(since.time_since_epoch().count()) {}
  ~Entry();
  Entry(const Entry&) = delete;

  const std::string& key() const { return key_; }
  std::uint32_t db() const { return db_; }
  KeyHash hash() const { return in_db(name_, db_); }
  NameHash name() const { return name_; }
  // A change of the configuration changes it (HotTable::set_policies). A reader that looks at that
  // moment may see some of the old values.
  ConsistencyPolicy consistency() const {
    const std::uint8_t level = level_.load(std::memory_order_relaxed);
    return {static_cast<Level>(level & kLevelBits),
            Nanos(max_staleness_.load(std::memory_order_relaxed)),
            Millis(stale_while_error_ms_.load(std::memory_order_relaxed)),
            (level & kKeepsUnproven) != 0};
  }

  // Valid until the reader's next quiescent state. Null: this read has no copy.
  const Copy* copy(const Read& read) const noexcept {
    for (const std::atomic<const Copy*>& slot : copies_) {
      const Copy* copy = slot.load();
      if (copy != nullptr && copy->read.is(read)) return copy;
    }
    return nullptr;
  }
  // Begin to load the copy that copy() mostly returns, with what else judge() reads of the entry,
  // and the copy's reply.
  void load_copy() const noexcept {
    __builtin_prefetch(copies_[0].load());
    __builtin_prefetch(&fence_);
  }
  void load_reply() const noexcept {
    if (const Copy* const copy = copies_[0].load()) __builtin_prefetch(copy->reply.data());
  }
  // A copy of it was served: it is not evicted in this turn of the queue. One store per turn, not
  // per hit: otherwise all readers would contend for this cache line.
  void touch() const noexcept {
    if (!visited_.load(std::memory_order_relaxed)) visited_.store(true, std::memory_order_relaxed);
  }
  // A copy of a fill that was sent at this time or earlier must not be served (fences.h).
  TimePoint fence() const noexcept {
    return TimePoint(Nanos(fence_.load(std::memory_order_acquire)));
  }
  // Any thread that may look at the entry. The fence only rises.
  void raise_fence(TimePoint now) const noexcept { raise_to(fence_, now); }
  // The send time of the latest fill whose value a reader may have seen. A reader must not get the
  // answer to an earlier fill, even when no copy is left.
  TimePoint shown() const noexcept { return TimePoint(Nanos(shown_.load())); }
  bool retained() const noexcept { return has(kRetained); }  // see HotTable::retain()
  // Any thread: it stays hot without its copies; see HotTable::promote().
  bool stays() const noexcept { return has(kStays); }
  // The last refusal that still holds; see concerns_whole_key().
  Uncacheable uncacheable() const noexcept { return uncacheable_.load(std::memory_order_relaxed); }

  // The proof that its copies depend on. A reader may see the one of the copies before: their
  // generation is then not that proof's.
  ProofIndex proof() const noexcept { return proof_.load(std::memory_order_acquire); }

  // For the writer.
  std::size_t bytes() const noexcept { return bytes_; }  // of its copies; 0: it has none
  template <class Visit>
  void for_each_copy(Visit visit) const {
    for (const std::atomic<const Copy*>& slot : copies_) {
      if (const Copy* copy = slot.load(std::memory_order_relaxed)) visit(*copy);
    }
  }

 private:
  template <class>
  friend class EvictionQueue;
  friend class HotTable;
  friend class NameChains;

  enum Flag : std::uint8_t {
    kRetained = 1,
    kStays = 2,
    kMarked = 4,  // it is in HotTable::marked_
  };
  bool has(Flag flag) const noexcept {
    return (flags_.load(std::memory_order_relaxed) & flag) != 0;
  }
  bool marked() const noexcept { return has(kMarked); }
  void set(Flag flag, bool on) noexcept {  // the writer
    const unsigned others = flags_.load(std::memory_order_relaxed) & ~unsigned{flag};
    flags_.store(static_cast<std::uint8_t>(on ? others | flag : others), std::memory_order_relaxed);
  }

  static std::uint32_t milliseconds(Nanos duration) {
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(std::chrono::floor<Millis>(duration).count(), UINT32_MAX));
  }
  static constexpr std::uint8_t kLevelBits = 0x0F, kKeepsUnproven = 0x10;
  static std::uint8_t packed(const ConsistencyPolicy& consistency) {
    const unsigned keeps = consistency.keeps_unproven ? kKeepsUnproven : 0U;
    return static_cast<std::uint8_t>(static_cast<unsigned>(consistency.level) | keeps);
  }
  void set_consistency(const ConsistencyPolicy& consistency) noexcept {  // the writer
    level_.store(packed(consistency), std::memory_order_relaxed);
    max_staleness_.store(consistency.max_staleness.count(), std::memory_order_relaxed);
    stale_while_error_ms_.store(milliseconds(consistency.stale_while_error),
                                std::memory_order_relaxed);
  }

  // The fields that every hit reads share the first cache line, with the slot of the first copy.
  const std::string key_;
  const std::uint32_t db_;
  std::atomic<std::uint8_t> level_;  // packed()
  mutable std::atomic<bool> visited_{false};
  std::atomic<Uncacheable> uncacheable_{Uncacheable::kNo};
  std::atomic<std::uint8_t> flags_{0};  // Flag
  std::atomic<std::int64_t> max_staleness_;
  const NameHash name_;
  std::array<std::atomic<const Copy*>, kCopiesMax> copies_{};
  std::atomic<std::uint32_t> stale_while_error_ms_;  // 32 bits, to make room for proof_
  std::atomic<ProofIndex> proof_{0};
  mutable std::atomic<std::int64_t> fence_;
  std::atomic<std::int64_t> shown_{0};
  TimePoint retry_at_{};    // when an uncacheable key may be tried again
  TimePoint hot_since_{};   // for its age at its eviction
  std::size_t bytes_ = 0;   // of its copies
  Entry* older_ = nullptr;  // in the EvictionQueue
  Entry* newer_ = nullptr;
  Entry* next_of_name_ = nullptr;  // in the NameChains
};
static_assert(sizeof(Entry) == 192, "three cache lines: hot_table.h says what a key takes");

}  // namespace heatsink::cache
