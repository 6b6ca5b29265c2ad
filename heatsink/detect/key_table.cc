// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_table.h"

#include <algorithm>
#include <bit>

#include "heatsink/detect/key_summary.h"

namespace heatsink::detect {
namespace {

// Shares of the memory, in percent; the table gets the rest.
constexpr std::size_t kSketchPercent = 9;
constexpr std::size_t kTalliesPercent = 4;  // if commands and clients are counted

// Looking at a bucket costs as much as ten accesses. Where all keys are alike, most looks would
// chase noise; a key that is really busier comes again soon.
constexpr std::uint32_t kAccessesPerLook = 4;

constexpr unsigned kBytesUnitBits = 6;  // of the sketch, where bytes are counted
// keys with a full estimate are admitted by one access in 2^n
constexpr unsigned kFullAdmitsBits = 4;

constexpr std::uint32_t kNone = UINT32_MAX;
// A newcomer must be busier than the rarest key by 1 / kMargin: where all keys are alike, less is
// noise.
constexpr std::uint64_t kMargin = 16;

std::uint64_t print_of(std::uint64_t tag) { return tag & 0xFF; }

std::uint32_t capped(std::uint64_t n) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, UINT32_MAX));
}

// Saturates at UINT32_MAX. (Branch-free; a minimum of 64 bits takes one instruction more.)
void add(std::uint32_t& to, std::uint32_t n) {
  const std::uint32_t sum = to + n;
  to = sum | (0 - static_cast<std::uint32_t>(sum < n));
}

void add_parts(Details& details, const Parts& parts, const Position& at) {
  details.mean += parts.mean;
  add(details.b[at.slot], parts.b);
  if (parts.a != 0) add(details.a[at.slot], parts.a);
}

std::size_t tallies_percent(const KeyTableOptions& options) {
  return options.names == nullptr ? 0 : kTalliesPercent;
}

}  // namespace

KeyTable::KeyTable(const KeyTableOptions& options)
    : prints_(std::max<std::size_t>(
          options.memory_bytes / 100 *
              (100 - kSketchPercent - options.names_percent - tallies_percent(options)) /
              kBucketBytes,
          1)),
      least_(prints_.size()),
      rows_(prints_.size() * kWays, options.dimension),
      buckets_(prints_.size()),
      sketch_(options.memory_bytes / 100 * kSketchPercent, options.seed,
              options.dimension == Dimension::kBytes ? kBytesUnitBits : 0),
      distinct_(options.has_distinct ? std::make_unique<DistinctKeys>() : nullptr),
      names_(options.memory_bytes / 100 * options.names_percent),
      sampler_(options.lossless_per_second, options.seed),
      urgent_level_(options.urgent_count),
      worth_tracking_level_(options.worth_tracking),
      worth_tracking_(worth_tracking_level_.least),
      tallies_(options.names, options.memory_bytes / 100 * tallies_percent(options)) {
  rows_.set_urgent_count(urgent_level_.least);
}

std::size_t KeyTable::memory_bytes() const {
  return buckets_ * kBucketBytes + sketch_.memory_bytes() + names_.memory_bytes() +
         tallies_.memory_bytes() + (distinct_ != nullptr ? sizeof(DistinctKeys) : 0);
}

// Sets the highest bit of each byte where a print equals the hash's: certainly for the lowest set
// bit, perhaps wrongly above (H. Warren, Hacker's Delight, chapter 6). Branch-free, because the
// key's position in its bucket cannot be predicted.
inline std::uint64_t KeyTable::matches(std::uint64_t prints, std::uint64_t tag) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  const std::uint64_t differ = prints ^ (print_of(tag) * kOnes);
  return (differ - kOnes) & ~differ & (kOnes << 7 >> 8);
}

// The key's number, or kNone.
inline std::uint32_t KeyTable::find(std::uint64_t tag) const noexcept {
  const std::uint32_t bucket = bucket_of(tag);
  for (std::uint64_t left = matches(prints_[bucket], tag); left != 0; left &= left - 1) {
    const std::uint32_t key = bucket * kWays + way_of(left);
    if (rows_.counts(key).tag == tag) return key;
  }
  return kNone;
}

// ---- time

void KeyTable::move(const SlotClock::Move& move, const Position& position, std::uint64_t all) {
  rows_.move(position, urgent_level_.of(all));
  worth_tracking_ = worth_tracking_level_.of(all);
  sketch_.move(move, position);
  tallies_.move(move, position);
  if (distinct_ != nullptr) distinct_->move(move, position);
  for (std::uint32_t lap = 0; lap < move.laps; ++lap) {
    factor_last_ = factor_now_;
    factor_now_ = sampler_.factor();
  }
}

void KeyTable::set_levels(CountLevel urgent_count, CountLevel worth_tracking) noexcept {
  urgent_level_ = urgent_count;
  worth_tracking_level_ = worth_tracking;
  rows_.set_urgent_count(urgent_level_.least);
  worth_tracking_ = worth_tracking_level_.least;
}

void KeyTable::move_sampling(TimePoint now, std::uint64_t accesses) noexcept {
  sampler_.move_to(now, accesses);
  factor_now_ = std::max(factor_now_, sampler_.factor());
  tallies_.follow(sampler_);
}

// ---- counting

bool KeyTable::drain(AccessLog& log, AccessLog::Amount& sum) noexcept {
  switch (rows_.dimension()) {
    case Dimension::kBytes:
      return drain_as<Dimension::kBytes>(log, sum);
    case Dimension::kWrites:
      return drain_as<Dimension::kWrites>(log, sum);
    case Dimension::kMisses:
      return drain_as<Dimension::kMisses>(log, sum);
    case Dimension::kRequests:
      break;
  }
  return drain_as<Dimension::kRequests>(log, sum);
}

bool KeyTable::count(const AccessLog::Entry& entry, std::string_view name) noexcept {
  looks_left_ = 1;
  // A name that found no room is stored again at each doubling of the count: by then the key is
  // busier than most. Only names too long for a log can be cut.
  const std::uint32_t key = find(entry.tag);
  if (key != kNone && rows_.details(key).name_state == kCut &&
      std::has_single_bit(rows_.counts(key).count[rows_.at().slot]))
    names_.store(rows_, key, name);
  switch (rows_.dimension()) {
    case Dimension::kBytes:
      return count_as<Dimension::kBytes>(entry, name);
    case Dimension::kWrites:
      return count_as<Dimension::kWrites>(entry, name);
    case Dimension::kMisses:
      return count_as<Dimension::kMisses>(entry, name);
    case Dimension::kRequests:
      break;
  }
  return count_as<Dimension::kRequests>(entry, name);
}

bool KeyTable::count_tracked(std::uint64_t tag, std::uint32_t requests,
                             AccessLog::Amount sum) noexcept {
  const std::uint32_t key = find(tag);
  if (key == kNone) return false;
  rows_.roll(key);
  const Position& at = rows_.at();
  if (!sum.none()) {
    rows_.counts(key).has_parts = 1;
    add_parts(rows_.details(key), parts_of<Dimension::kRequests>(sum), at);
  }
  add(rows_.counts(key).count[at.slot], requests);
  return true;
}

// Works in passes, so that the cache misses of all entries overlap, and the processor handles known
// and unknown keys in two runs instead of mispredicting each.
template <Dimension kDimension>
bool KeyTable::drain_as(AccessLog& log, AccessLog::Amount& sum) noexcept {
  Sorted sorted;
  sort(log, sorted);
  sum = sorted.sum;
  AdmissionSketch::CellIndex cells[AccessLog::kEntries];
  for (std::uint32_t k = 0; k < sorted.unknown_size; ++k)
    cells[k] = sketch_.prefetch(log[sorted.unknown[k]].tag);
  looks_left_ = std::max(log.size() / kAccessesPerLook, 1U);
  bool urgent = tallies_.takes_one_of(sorted.known_size)
                    ? count_sorted<kDimension, true>(log, sorted)
                    : count_sorted<kDimension, false>(log, sorted);
  // If a bucket has room, or a key comes twice, this batch may have made the key known.
  const std::uint64_t admissions = sorted.no_room ? admissions_ : UINT64_MAX;
  for (std::uint32_t k = 0; k < sorted.unknown_size; ++k) {
    const AccessLog::Entry& entry = log[sorted.unknown[k]];
    const auto name = [&] { return log.name(entry); };
    urgent |= admissions == admissions_ ? count_unknown<kDimension>(entry, cells[k], name)
                                        : count_as<kDimension>(entry, name());
  }
  log.clear();
  return urgent;
}

// Copies the members to locals: reading them again after each store takes half of the time.
void KeyTable::sort(const AccessLog& log, Sorted& sorted) noexcept {
  const std::uint64_t* const prints = prints_.data();
  Counts* const counts = rows_.counts();
  const Details* const details = rows_.details();
  const std::uint64_t buckets = buckets_;
  const std::uint32_t size = log.size();
  std::uint32_t known_size = 0;
  std::uint64_t all = kNoRoom;
  AccessLog::Amount sum;
  for (std::uint32_t i = 0; i < size; ++i) {
    const AccessLog::Entry& entry = log[i];
    const std::uint32_t bucket = bucket_of(entry.tag, buckets);
    const std::uint64_t print = prints[bucket], found = matches(print, entry.tag);
    all &= print;
    sum += entry.amount;
    const std::uint32_t key = bucket * kWays + way_of(found), is_known = found != 0 ? 1 : 0;
    sorted.known[known_size] = {&entry, &counts[key]};
    sorted.unknown[i - known_size] = i;
    known_size += is_known;
  }
  for (std::uint32_t k = 0; k < known_size; ++k) {
    const Sorted::Known& known = sorted.known[k];
    __builtin_prefetch(known.counts, 1);
    if (!known.entry->amount.none()) __builtin_prefetch(&details[known.counts - counts], 1);
  }
  sorted.no_room = all != 0;
  sorted.sum = sum;
  sorted.known_size = known_size;
  sorted.unknown_size = size - known_size;
}

// Counts the known keys. A key found by the print of another one may turn out to be unknown.
template <Dimension kDimension, bool kTallied>
bool KeyTable::count_sorted(const AccessLog& log, const Sorted& sorted) noexcept {
  const AccessLog::Entry* strays[AccessLog::kEntries];
  std::uint32_t strays_size = 0;
  bool urgent = false;
  const Position at = rows_.at();
  for (const Sorted::Known *each = sorted.known, *end = each + sorted.known_size; each != end;
       ++each) {
    const auto [entry, key] = *each;
    if (key->tag == entry->tag) [[likely]]
      urgent |= count_known<kDimension, kTallied>(*key, *entry, at);
    else
      strays[strays_size++] = entry;
  }
  if constexpr (!kTallied) tallies_.pass(sorted.known_size - strays_size);
  for (std::uint32_t k = 0; k < strays_size; ++k)
    urgent |= count_as<kDimension>(*strays[k], log.name(*strays[k]));
  return urgent;
}

template <Dimension kDimension>
bool KeyTable::count_as(const AccessLog::Entry& entry, std::string_view name) noexcept {
  const std::uint32_t key = find(entry.tag);
  if (key != kNone) return count_known<kDimension>(rows_.counts(key), entry, rows_.at());
  if (weight_of<kDimension>(entry.amount) != 0 && has_room(bucket_of(entry.tag)))
    return count_known<kDimension>(rows_.counts(fill(entry, name)), entry, rows_.at());
  return count_unknown<kDimension>(entry, sketch_.locate(entry.tag), [&] { return name; });
}

template <Dimension kDimension, bool kTallied>
[[gnu::always_inline]] inline bool KeyTable::count_known(Counts& counts,
                                                         const AccessLog::Entry& entry,
                                                         const Position& at) noexcept {
  const auto key = [&] { return static_cast<std::uint32_t>(&counts - rows_.counts()); };
  if (counts.turn != at.turn) [[unlikely]]
    rows_.roll(key());
  if (!is_plain<kDimension>(entry.amount)) {
    counts.has_parts = 1;
    add_parts(rows_.details(key()), parts_of<kDimension>(entry.amount), at);
  }
  std::uint32_t& in_slot = counts.count[at.slot];
  if (in_slot == 0) [[unlikely]]
    see(entry.tag);
  add(in_slot, weight_of<kDimension>(entry.amount));
  if constexpr (kTallied) {
    if (tallies_.takes()) [[unlikely]]
      tallies_.add(rows_.details(key()), entry, sampler_);
  }
  return in_slot >= counts.alarm && rows_.ring(key());
}

// A key with the estimate `window` cannot displace any key of its bucket now.
inline bool KeyTable::stays_rare(std::uint32_t bucket, std::uint64_t window) const noexcept {
  const Least& least = least_[bucket];
  return window < worth_tracking_ || (least.turn == rows_.at().turn && window <= least.rank) ||
         looks_left_ == 0;
}

template <Dimension kDimension, class NameOf>
inline bool KeyTable::count_unknown(const AccessLog::Entry& entry, AdmissionSketch::CellIndex cells,
                                    NameOf name_of) noexcept {
  see(entry.tag);
  const std::uint32_t weight = weight_of<kDimension>(entry.amount);
  if (weight == 0) return false;
  const bool sampled = kDimension != Dimension::kBytes || weight <= kSampledBytesMax;
  if (sampled && !sampler_.takes()) return false;
  const std::uint64_t counted = std::uint64_t{weight} * (sampled ? sampler_.factor() : 1);
  const AdmissionSketch::Reading reading = sketch_.add(cells, counted);
  if (!reading.full() && stays_rare(bucket_of(entry.tag), sketch_.window(reading))) [[likely]] {
    sketch_.stays_absent(reading);
    return false;
  }
  const AdmissionSketch::Estimate estimate = sketch_.estimate(reading, counted);
  if (looks_left_ == 0) {
    sketch_.stays_absent(estimate);
    return false;
  }
  --looks_left_;
  const std::uint32_t key = replace_rarest(entry, name_of(), estimate, weight);
  return key != kNone && count_known<kDimension>(rows_.counts(key), entry, rows_.at());
}

// ---- admission and eviction

// A bucket that was never full has not rejected a key.
std::uint32_t KeyTable::fill(const AccessLog::Entry& entry, std::string_view name) noexcept {
  std::uint32_t key = bucket_of(entry.tag) * kWays;
  while (rows_.counts(key).tag != 0) ++key;
  take(key, entry, name);
  return key;
}

// The likely count in the window, comparable with the sketch's estimate.
std::uint64_t KeyTable::rank(const Counts& counts) const noexcept {
  const Position& at = rows_.at();
  if (at.turn - counts.turn >= at.slots) return 0;
  return count_at(counts, at) + counts.missed_now + sketch_.still_in_window(counts.missed_last);
}

// Returns the key's new number, or kNone if it stays untracked.
std::uint32_t KeyTable::replace_rarest(const AccessLog::Entry& entry, std::string_view name,
                                       const AdmissionSketch::Estimate& estimate,
                                       std::uint32_t weight) noexcept {
  const std::uint32_t bucket = bucket_of(entry.tag);
  std::uint32_t rarest = 0;
  std::uint64_t least = UINT64_MAX, second = UINT64_MAX;
  for (std::uint32_t key = bucket * kWays; key < (bucket + 1) * kWays; ++key) {
    const std::uint64_t key_rank = rank(rows_.counts(key));
    second = std::min(second, std::max(key_rank, least));
    if (key_rank < least) {
      least = key_rank;
      rarest = key;
    }
  }
  least_[bucket] = {capped(least + least / kMargin), rows_.at().turn};
  // A full cell proves only that a key is frequent, so a random part of such keys is admitted.
  if (estimate.window <= least + least / kMargin &&
      !(estimate.full && sampler_.one_of(kFullAdmitsBits))) {
    sketch_.stays_absent(estimate);
    return kNone;
  }
  const std::uint64_t next = std::min(second, estimate.window);
  least_[bucket].rank = capped(next + next / kMargin);
  evict(rarest);
  take(rarest, entry, name);
  // This access is counted below. In a sample the bound of an unseen count is never 0.
  const std::uint64_t before = estimate.now - std::min<std::uint64_t>(estimate.now, weight);
  const bool sampled = std::max(factor_now_, factor_last_) > 1;
  Counts& counts = rows_.counts(rarest);
  counts.missed_now = capped(std::max<std::uint64_t>(before, sampled ? 1 : 0));
  counts.missed_last = std::min(capped(estimate.last), kMissedLastMax) & kMissedLastMax;
  return rarest;
}

void KeyTable::evict(std::uint32_t key) noexcept {
  rows_.roll(key);
  const Counts& counts = rows_.counts(key);
  const Details& details = rows_.details(key);
  const ByLap laps = by_lap(counts, details, rows_.at());
  if ((laps.now | laps.last) != 0) sketch_.take_back(counts.tag, laps.now, laps.last);
  names_.release(details);
  tallies_.release(details);
}

void KeyTable::take(std::uint32_t key, const AccessLog::Entry& entry,
                    std::string_view name) noexcept {
  ++admissions_;
  const std::uint32_t shift = 8 * (key % kWays);
  std::uint64_t& prints = prints_[key / kWays];
  prints = (prints & ~(std::uint64_t{0xFF} << shift)) | print_of(entry.tag) << shift;
  if (key % kWays == kWays - 1) prints |= kNoRoom;
  rows_.begin(key, entry);
  names_.store(rows_, key, name);
}

// ---- summaries

void KeyTable::summarize(Summary& out, std::size_t keys_max, CountLevel floor) {
  const std::uint32_t factor = std::max(factor_now_, factor_last_);
  const bool has_bytes = rows_.dimension() == Dimension::kBytes;
  out.sampled = factor > 1;
  const SummarizedKeys all{.rows = rows_,
                           .names = names_,
                           .tallies = tallies_,
                           .sample = {factor, has_bytes ? kSampledBytesMax : 1},
                           .absent_max = sketch_.absent_max()};
  detect::summarize(all, keys_max, floor, out);
}

}  // namespace heatsink::detect
