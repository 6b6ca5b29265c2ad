// SPDX-License-Identifier: Apache-2.0
// Writes the summary of a KeyTable: the busiest keys with their bounds.
#include <algorithm>

#include "heatsink/detect/key_table.h"

namespace heatsink::detect {

// A key and the values that order it.
struct KeyTable::Candidate {
  std::uint64_t high;
  std::uint64_t tag;
  std::uint32_t key;

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.high != b.high ? a.high > b.high : a.tag < b.tag;
  }
};

namespace {

// No key has more than `total`, the sum of all keys.
std::uint64_t high_of(const Counts& counts, const SampleBounds& sample, std::uint64_t total) {
  const std::uint64_t counted = low(counts);
  if (is_full(counts, counted)) return total;
  const std::uint64_t missed = std::uint64_t{counts.missed_now} + counts.missed_last;
  return missed == 0 ? counted : std::min(counted + sample.high(missed), total);
}

}  // namespace

SampleBounds KeyTable::sample_bounds() const {
  return {std::max(factor_now_, factor_last_),
          dimension_ == Dimension::kBytes ? kSampledBytesMax : 1};
}

void KeyTable::summarize(Summary& out, std::size_t keys_max, CountLevel level) {
  const SampleBounds sample = sample_bounds();
  const std::uint64_t total = out.total();
  const std::uint64_t floor = std::max<std::uint64_t>(level.of(total), 1);
  std::vector<Candidate> keys;
  for (std::uint32_t key = 0; key < counts_.size(); ++key) {
    if (counts_[key].tag == 0) continue;
    roll_key(key);
    const std::uint64_t high = high_of(counts_[key], sample, total);
    if (high >= floor) keys.push_back({high, counts_[key].tag, key});
  }
  out.sampled = std::max(factor_now_, factor_last_) > 1;
  out.absent_max = std::max(sample.high(sketch_.absent_max()), floor - 1);
  if (keys.size() > keys_max) {
    const auto cut = keys.begin() + static_cast<std::ptrdiff_t>(keys_max);
    std::nth_element(keys.begin(), cut, keys.end());
    out.absent_max = std::max(out.absent_max, cut->high);
    keys.erase(cut, keys.end());
  }
  out.absent_max = std::min(out.absent_max, total);
  std::sort(keys.begin(), keys.end());
  give_tally_rows(keys);
  out.keys.reserve(keys.size());
  for (const Candidate& key : keys) {
    out.keys.push_back(key_count(key.key, sample, total));
  }
}

// Gives the board's rows to the busiest keys. A key that already has a row keeps its counts.
void KeyTable::give_tally_rows(std::span<const Candidate> busiest) noexcept {
  busiest = busiest.first(std::min(busiest.size(), board_.size()));
  board_.begin();
  for (const Candidate& key : busiest) {
    if (details_[key.key].tallies != TallyBoard::kNoRow) board_.keep(details_[key.key].tallies);
  }
  for (const Candidate& key : busiest) {
    if (details_[key.key].tallies != TallyBoard::kNoRow) continue;
    std::uint32_t before = TallyBoard::kNobody;
    details_[key.key].tallies = board_.take(key.key, &before);
    if (before != TallyBoard::kNobody) details_[before].tallies = TallyBoard::kNoRow;
  }
}

KeyCount KeyTable::key_count(std::uint32_t key, const SampleBounds& sample,
                             std::uint64_t total) const {
  const Counts& counts = counts_[key];
  const Details& details = details_[key];
  KeyCount out;
  out.hash = KeyHash{counts.tag};
  const std::size_t prefix = std::min<std::size_t>(details.name_size, sizeof(details.name));
  out.key.reserve(details.name_size);
  out.key.assign(details.name, prefix);
  if (details.name_end != NamePool::kNone) {
    names_.append_to(out.key, details.name_end, details.name_size - prefix);
  }
  out.db = details.db;
  out.key_truncated = details.name_state != kWhole;
  out.low = low(counts);
  out.high = high_of(counts, sample, total);
  const Accesses seen = accesses(counts, details, dimension_);
  out.reads = seen.reads;
  out.writes = seen.writes;
  out.hits = seen.hits;
  out.bytes = seen.bytes;
  if (details.tallies != TallyBoard::kNoRow) {
    const bool exact = dimension_ == Dimension::kRequests;
    board_.tell(details.tallies, *tally_names_, exact ? out.high : out.reads + out.writes, out);
  }
  return out;
}

}  // namespace heatsink::detect
