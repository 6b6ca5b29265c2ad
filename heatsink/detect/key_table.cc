// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heatsink::detect {
namespace {

// Shares of the memory, in percent; the rest is the table's.
constexpr std::size_t kSketchPercent = 8;
constexpr std::size_t kNamesPercent = 4;

constexpr int kOwnersAsked = 64;  // for the room of one long name, at most

std::uint64_t tag_of(KeyHash hash) { return hash.value == 0 ? 1 : hash.value; }

std::uint32_t capped(std::uint64_t n) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, UINT32_MAX));
}

}  // namespace

KeyTable::KeyTable(std::size_t memory_bytes, std::uint64_t urgent_count, std::uint64_t seed)
    : buckets_(std::max<std::size_t>(
          memory_bytes / 100 * (100 - kSketchPercent - kNamesPercent) / sizeof(Bucket), 1)),
      sketch_(memory_bytes / 100 * kSketchPercent, seed),
      names_(memory_bytes / 100 * kNamesPercent),
      urgent_count_(std::max<std::uint64_t>(urgent_count, 1)) {}

void KeyTable::move(const SlotClock::Move& move, const Position& position) {
  at_ = position;
  sketch_.move(move, position);
}

std::size_t KeyTable::memory_bytes() const {
  return buckets_.size() * sizeof(Bucket) + sketch_.memory_bytes() + names_.memory_bytes();
}

KeyTable::Bucket& KeyTable::bucket_of(KeyHash hash) noexcept {
  return buckets_[((hash.value >> 32) * buckets_.size()) >> 32];
}

// Without a branch: where in the bucket a key is cannot be predicted.
std::uint32_t KeyTable::find(const Bucket& bucket, std::uint64_t tag) noexcept {
  std::uint32_t found = 1U << kWays;
  for (std::uint32_t way = 0; way < kWays; ++way) {
    found |= static_cast<std::uint32_t>(bucket.tags[way] == tag) << way;
  }
  return static_cast<std::uint32_t>(std::countr_zero(found));
}

bool KeyTable::record(const Access& access, std::uint32_t weight) noexcept {
  Bucket& bucket = bucket_of(access.hash);
  std::uint32_t way = find(bucket, tag_of(access.hash));
  if (way == kWays) {
    way = admit(bucket, access, weight);
    if (way == kWays) return false;
  }
  return count(bucket, way, access, weight);
}

bool KeyTable::count(Bucket& bucket, std::uint32_t way, const Access& access,
                     std::uint32_t weight) noexcept {
  Counts& counts = bucket.counts[way];
  Details& details = bucket.details[way];
  if (counts.turn != at_.turn) roll_key(bucket, way);
  std::uint32_t& in_slot = counts.count[at_.slot];
  if (in_slot == UINT32_MAX) return false;
  in_slot = capped(std::uint64_t{in_slot} + weight);
  if (access.kind == AccessKind::kWrite) ++details.writes[at_.slot];
  if (access.local_hit) ++details.hits[at_.slot];
  if (access.bytes != 0) details.bytes += access.bytes;
  // A name that found no room is tried again with each doubling: by then the key is busier than
  // most.
  if (counts.name_state == kCut && std::has_single_bit(in_slot))
    store_name(bucket, way, access.key);
  if (counts.alarm == 0 || in_slot < counts.alarm) return false;
  ++counts.urgency;
  arm(counts, at_, urgent_count_);
  return true;
}

void KeyTable::roll_key(Bucket& bucket, std::uint32_t way) noexcept {
  if (bucket.counts[way].turn == at_.turn) return;
  roll(bucket.counts[way], bucket.details[way], at_);
  arm(bucket.counts[way], at_, urgent_count_);
}

// The way that is now the key's, or kWays: it stays untracked.
std::uint32_t KeyTable::admit(Bucket& bucket, const Access& access, std::uint32_t weight) noexcept {
  const std::uint32_t empty = find(bucket, 0);
  if (empty != kWays) {  // never full: no key of this bucket was ever turned away
    take(bucket, empty, access, {});
    return empty;
  }
  AdmissionSketch::Estimate estimate = sketch_.add(KeyHash{tag_of(access.hash)}, weight);
  if (bucket.minimum_turn != at_.turn || estimate.window > bucket.minimum) {
    const std::uint32_t way = rarest(bucket);
    if (estimate.window > bucket.minimum) {
      evict(bucket, way);
      estimate.now -= std::min(estimate.now, weight);  // this access will be counted
      take(bucket, way, access, estimate);
      return way;
    }
  }
  sketch_.stays_absent(estimate);
  return kWays;
}

// The likely number of accesses in the window, by the same measure as the sketch's estimate.
std::uint64_t KeyTable::rank(const Counts& counts) const noexcept {
  return low(counts) + counts.missed_now + sketch_.still_in_window(counts.missed_last);
}

std::uint32_t KeyTable::rarest(Bucket& bucket) noexcept {
  std::uint32_t least = 0;
  std::uint64_t least_rank = UINT64_MAX;
  for (std::uint32_t way = 0; way < kWays; ++way) {
    roll_key(bucket, way);
    const std::uint64_t key_rank = rank(bucket.counts[way]);
    if (key_rank < least_rank) {
      least_rank = key_rank;
      least = way;
    }
  }
  bucket.minimum = capped(std::min<std::uint64_t>(least_rank, UINT32_MAX - 1));
  bucket.minimum_turn = at_.turn;
  return least;
}

void KeyTable::evict(Bucket& bucket, std::uint32_t way) noexcept {
  const ByLap laps = by_lap(bucket.counts[way], at_);
  if ((laps.now | laps.last) != 0)
    sketch_.take_back(KeyHash{bucket.tags[way]}, laps.now, laps.last);
  if (bucket.details[way].name_end != NamePool::kNone) names_.release(bucket.details[way].name_end);
}

void KeyTable::take(Bucket& bucket, std::uint32_t way, const Access& access,
                    const AdmissionSketch::Estimate& before) noexcept {
  bucket.tags[way] = tag_of(access.hash);
  Counts& counts = bucket.counts[way];
  counts = {};
  counts.turn = counts.admitted = at_.turn;
  counts.missed_now = before.now;
  counts.missed_last = before.last;
  Details& details = bucket.details[way];
  std::memset(details.hits, 0, sizeof(details.hits));
  std::memset(details.writes, 0, sizeof(details.writes));
  details.bytes = 0;
  details.db = access.db;
  details.name_end = NamePool::kNone;
  store_name(bucket, way, access.key);
  arm(counts, at_, urgent_count_);
}

void KeyTable::store_name(Bucket& bucket, std::uint32_t way, std::string_view name) noexcept {
  Counts& counts = bucket.counts[way];
  Details& details = bucket.details[way];
  counts.name_state = name.size() > kKeyBytesMax ? kTooLong : kWhole;
  name = name.substr(0, kKeyBytesMax);
  const std::string_view prefix = name.substr(0, sizeof(details.name));
  if (!prefix.empty()) std::memcpy(details.name, prefix.data(), prefix.size());
  counts.name_size = static_cast<std::uint16_t>(prefix.size());
  const std::string_view end = name.substr(prefix.size());
  if (end.empty()) return;
  details.name_end = store_end(end, number_of(bucket, way), low(counts));
  if (details.name_end == NamePool::kNone) {
    counts.name_state = kCut;
  } else {
    counts.name_size = static_cast<std::uint16_t>(name.size());
  }
}

// Room for the end of a name, if need be that of keys which are less than half as busy.
std::uint32_t KeyTable::store_end(std::string_view end, std::uint32_t owner,
                                  std::uint64_t count) noexcept {
  std::uint32_t chain = names_.store(end, owner);
  const int limit = count < 2 || !names_.ever_holds(end.size()) ? 0 : kOwnersAsked;
  for (int asked = 0; chain == NamePool::kNone && asked < limit; ++asked) {
    const std::uint32_t other = names_.next_owner();
    if (other == NamePool::kNone) continue;
    Bucket& bucket = buckets_[other / kWays];
    roll_key(bucket, other % kWays);
    if (low(bucket.counts[other % kWays]) >= count / 2) continue;
    drop_end(other);
    chain = names_.store(end, owner);
  }
  return chain;
}

void KeyTable::drop_end(std::uint32_t owner) noexcept {
  Bucket& bucket = buckets_[owner / kWays];
  Counts& counts = bucket.counts[owner % kWays];
  Details& details = bucket.details[owner % kWays];
  names_.release(details.name_end);
  details.name_end = NamePool::kNone;
  counts.name_size = sizeof(details.name);
  counts.name_state = kCut;
}

std::uint32_t KeyTable::number_of(const Bucket& bucket, std::uint32_t way) const noexcept {
  return static_cast<std::uint32_t>(&bucket - buckets_.data()) * kWays + way;
}

// Where a key stands among the others: what it is ordered by, and where it is.
struct KeyTable::Candidate {
  std::uint64_t high;
  std::uint64_t tag;
  const Bucket* bucket;
  std::uint32_t way;

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.high != b.high ? a.high > b.high : a.tag < b.tag;
  }
};

void KeyTable::summarize(Summary& out, std::size_t keys_max, std::uint64_t floor) {
  floor = std::max<std::uint64_t>(floor, 1);
  std::vector<Candidate> keys;
  for (Bucket& bucket : buckets_) {
    for (std::uint32_t way = 0; way < kWays && bucket.tags[way] != 0; ++way) {
      roll_key(bucket, way);
      const std::uint64_t key_high = high(bucket.counts[way]);
      if (key_high >= floor) keys.push_back({key_high, bucket.tags[way], &bucket, way});
    }
  }
  out.absent_max = std::max(sketch_.absent_max(), floor - 1);
  if (keys.size() > keys_max) {
    const auto cut = keys.begin() + static_cast<std::ptrdiff_t>(keys_max);
    std::nth_element(keys.begin(), cut, keys.end());
    out.absent_max = std::max(out.absent_max, cut->high);
    keys.erase(cut, keys.end());
  }
  std::sort(keys.begin(), keys.end());
  out.keys.reserve(keys.size());
  for (const Candidate& key : keys) out.keys.push_back(key_count(*key.bucket, key.way));
}

KeyCount KeyTable::key_count(const Bucket& bucket, std::uint32_t way) const {
  const Counts& counts = bucket.counts[way];
  const Details& details = bucket.details[way];
  KeyCount out;
  out.hash = KeyHash{bucket.tags[way]};
  const std::size_t prefix = std::min<std::size_t>(counts.name_size, sizeof(details.name));
  out.key.reserve(counts.name_size);
  out.key.assign(details.name, prefix);
  if (details.name_end != NamePool::kNone) {
    names_.append_to(out.key, details.name_end, counts.name_size - prefix);
  }
  out.db = details.db;
  out.key_truncated = counts.name_state != kWhole;
  out.low = low(counts);
  out.high = high(counts);
  out.writes = sum(details.writes);
  out.reads = out.low - out.writes;
  out.hits = sum(details.hits);
  out.bytes = details.bytes;
  return out;
}

}  // namespace heatsink::detect
