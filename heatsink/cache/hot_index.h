// SPDX-License-Identifier: Apache-2.0
// Finds a hot key's entry by hash. One writer changes it in place while other threads look up.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/cache/entry.h"
#include "heatsink/cache/epochs.h"

namespace heatsink::cache {

// Buckets of one cache line: seven entries, and 14 bits of each one's hash. If a bucket is full,
// the entry lies in the next one with room, and each bucket on the way counts it. A look-up goes on
// only behind a bucket that counts some: by Poisson's formula 3 % of the buckets just before the
// table doubles, 0.1 % of them with 65 536 entries. So most look-ups read one line before the entry
// itself. Takes 18 to 37 bytes per entry.
//
// Why a look-up needs neither a lock nor a second try:
//  * An entry never moves within a table, so it cannot be missed on its way.
//  * The bits only save the look at other entries. They may be those of the place's former or next
//    entry: the caller compares the key. A reader that sees a place before or after the writer has
//    used it looked up before or after that.
//  * A table that has become too small is copied, and the copy takes its place by one store. Who
//    reads the old one still sees the keys of that moment, and entries removed since: Epochs keeps
//    both until the reader's next quiescent state.
// All operations are seq_cst, which costs a reader nothing on x86. Epochs needs it for the pointers
// (see there); and once add() has returned, each look-up that begins anywhere finds the entry. The
// fences need that: a worker that does not find the key shows its client a reply without raising
// the key's fence, which is right only if no fill was sent before (HotTable::promote()).
class HotIndex {
 public:
  explicit HotIndex(Epochs& epochs) : epochs_(epochs), table_(new Table(kBucketsMin)) {}
  ~HotIndex() { delete table_.load(); }  // REQUIRES no readers
  HotIndex(const HotIndex&) = delete;

  // Null, or an entry for which `is` is true. Any online reader of the epochs, and the writer.
  template <class Is>
  Entry* find(KeyHash hash, Is is) const noexcept {
    const Table& table = *table_.load();
    std::size_t at = hash.value & table.mask;
    for (std::size_t seen = 0; seen <= table.mask; ++seen, at = (at + 1) & table.mask) {
      const Bucket& bucket = table.buckets[at];
      const std::uint64_t tags = bucket.tags.load();
      std::uint64_t left = places_with(tag_of(hash), tags);
      if (left != 0) {
        // Most entries lie in the place of their choice. Its address does not depend on the tags,
        // so the processor loads the entry before it has compared them: 4 ns of a hit.
        const std::size_t chosen = choice_of(hash);
        if (tag_at(tags, chosen) == tag_of(hash)) {
          Entry* const entry = unpacked(bucket.entries[chosen].load(), hash);
          if (entry != nullptr && is(*entry)) return entry;
        }
        for (; left != 0; left &= left - 1) {
          Entry* const entry = unpacked(bucket.entries[place_of(left)].load(), hash);
          if (entry != nullptr && is(*entry)) return entry;
        }
      }
      if ((tags & kPassedBy) == 0) return nullptr;
    }
    return nullptr;
  }

  // Begins to load the bucket of the hash. The same threads.
  void load(KeyHash hash) const noexcept {
    const Table& table = *table_.load();
    __builtin_prefetch(&table.buckets[hash.value & table.mask]);
  }

  // Writer. O(1), but add() copies the table when it doubles (65 536 entries: some milliseconds).
  void add(const Entry& entry) {
    if ((size_ + 1) * 2 > (table_.load()->mask + 1) * kPlaces) grow();
    put(*table_.load(), entry);
    ++size_;
  }
  void remove(const Entry& entry) {  // afterwards Epochs may retire it
    Table& table = *table_.load();
    std::size_t at = entry.hash().value & table.mask;
    for (std::size_t seen = 0; seen <= table.mask; ++seen, at = (at + 1) & table.mask) {
      Bucket& bucket = table.buckets[at];
      for (std::size_t place = 0; place < kPlaces; ++place) {
        if (bucket.entries[place].load() != packed(entry)) continue;
        bucket.entries[place].store(0);
        bucket.tags.store(with_tag(bucket.tags.load(), place, 0));
        pass_by(table, entry.hash(), at, -1);
        --size_;
        return;
      }
    }
  }
  std::size_t bytes() const { return (table_.load()->mask + 1) * sizeof(Bucket); }

 private:
  static constexpr std::size_t kPlaces = 7;
  static constexpr std::size_t kBucketsMin = 8;
  static constexpr std::uint64_t kPassedBy = 0xFF;
  static constexpr std::uint64_t kEach = 0x0101010101010101U;

  struct alignas(64) Bucket {
    // The lowest byte: how many entries did not find room here. At 255 it stays, and look-ups go on
    // for nothing. The others: the tags of the entries; 0: none.
    std::atomic<std::uint64_t> tags{0};
    std::array<std::atomic<std::uintptr_t>, kPlaces> entries{};  // packed(); 0: none
  };
  static_assert(sizeof(Bucket) == 64);
  struct Table {
    explicit Table(std::size_t count) : mask(count - 1), buckets(new Bucket[count]) {}
    const std::size_t mask;
    const std::unique_ptr<Bucket[]> buckets;
  };

  // The bucket is chosen by the lowest bits, so the tag is of the highest. That of an empty place
  // is 0, too.
  static std::uint64_t tag_of(KeyHash hash) noexcept { return hash.value >> 56; }
  // An entry's address ends in six zeros, which hold six more bits of its hash: of the misses in a
  // full table, one in 8000 looks at an entry for nothing. With the tags alone it is one in 128,
  // and that entry is in no cache: 2 ns of a miss.
  static constexpr std::uintptr_t kSpare = alignof(Entry) - 1;
  static std::uintptr_t spare_of(KeyHash hash) noexcept { return (hash.value >> 48) & kSpare; }
  static std::uintptr_t packed(const Entry& entry) noexcept {
    return reinterpret_cast<std::uintptr_t>(&entry) | spare_of(entry.hash());
  }
  // Null if the place is empty or has other bits.
  static Entry* unpacked(std::uintptr_t place, KeyHash hash) noexcept {
    const std::uintptr_t address = place ^ spare_of(hash);
    return (address & kSpare) == 0 ? entry_at(address) : nullptr;
  }
  static Entry* entry_at(std::uintptr_t address) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address shares its word with bits of the hash
    return reinterpret_cast<Entry*>(address);
  }
  static std::size_t choice_of(KeyHash hash) noexcept {
    return (((hash.value >> 32) & 0xFFFF) * kPlaces) >> 16;
  }
  static std::uint64_t tag_at(std::uint64_t tags, std::size_t place) noexcept {
    return (tags >> (8 * (place + 1))) & 0xFF;
  }
  // The top bit of each byte that is the tag. Sometimes of others, too: it is a borrow.
  static std::uint64_t places_with(std::uint64_t tag, std::uint64_t tags) noexcept {
    const std::uint64_t differs = tags ^ (tag * kEach);
    return (differs - kEach) & ~differs & (kEach << 7) & ~kPassedBy;
  }
  static std::size_t place_of(std::uint64_t places) noexcept {
    return static_cast<std::size_t>(std::countr_zero(places)) / 8 - 1;
  }
  static std::uint64_t with_tag(std::uint64_t tags, std::size_t place, std::uint64_t tag) {
    const std::size_t shift = 8 * (place + 1);
    return (tags & ~(std::uint64_t{0xFF} << shift)) | (tag << shift);
  }

  static void put(Table& table, const Entry& entry) {
    for (std::size_t at = entry.hash().value & table.mask;; at = (at + 1) & table.mask) {
      Bucket& bucket = table.buckets[at];
      std::size_t place = choice_of(entry.hash());
      for (std::size_t tried = 0; tried < kPlaces; ++tried, place = (place + 1) % kPlaces) {
        if (bucket.entries[place].load() != 0) continue;
        bucket.entries[place].store(packed(entry));
        bucket.tags.store(with_tag(bucket.tags.load(), place, tag_of(entry.hash())));
        pass_by(table, entry.hash(), at, 1);
        return;
      }
    }
  }
  // Counts the entry in the buckets before the one where it lies.
  static void pass_by(Table& table, KeyHash hash, std::size_t end, int change) {
    for (std::size_t at = hash.value & table.mask; at != end; at = (at + 1) & table.mask) {
      std::atomic<std::uint64_t>& tags = table.buckets[at].tags;
      const std::uint64_t old = tags.load();
      if ((old & kPassedBy) != kPassedBy) tags.store(change > 0 ? old + 1 : old - 1);
    }
  }

  void grow() {
    const Table* const old = table_.load();
    auto larger = std::make_unique<Table>((old->mask + 1) * 2);
    for (std::size_t at = 0; at <= old->mask; ++at) {
      for (const std::atomic<std::uintptr_t>& place : old->buckets[at].entries) {
        if (const std::uintptr_t word = place.load(); word != 0)
          put(*larger, *entry_at(word & ~kSpare));
      }
    }
    table_.store(larger.release());
    epochs_.retire(old);
  }

  Epochs& epochs_;
  std::size_t size_ = 0;
  // Readers load it: a cache line apart from the writer's fields.
  alignas(64) std::atomic<Table*> table_;
};

}  // namespace heatsink::cache
