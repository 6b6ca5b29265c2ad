// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_summary.h"

#include <algorithm>
#include <vector>

#include "heatsink/detect/tracked_key.h"

namespace heatsink::detect {
namespace {

// A key and the values that order it.
struct Candidate {
  std::uint64_t high;
  std::uint64_t tag;
  std::uint32_t key;

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.high != b.high ? a.high > b.high : a.tag < b.tag;
  }
};

// No key has more than `total`, the sum of all keys.
std::uint64_t high_of(const Counts& counts, const SampleBounds& sample, std::uint64_t total) {
  const std::uint64_t counted = low(counts);
  if (is_full(counts, counted)) return total;
  const std::uint64_t missed = std::uint64_t{counts.missed_now} + counts.missed_last;
  return missed == 0 ? counted : std::min(counted + sample.high(missed), total);
}

std::vector<Candidate> candidates(const SummarizedKeys& all, std::uint64_t floor,
                                  std::uint64_t total) {
  std::vector<Candidate> keys;
  for (std::uint32_t key = 0; key < all.rows.size(); ++key) {
    if (all.rows.counts(key).tag == 0) continue;
    all.rows.roll(key);
    const std::uint64_t high = high_of(all.rows.counts(key), all.sample, total);
    if (high >= floor) keys.push_back({high, all.rows.counts(key).tag, key});
  }
  return keys;
}

KeyCount key_count(const SummarizedKeys& all, const Candidate& candidate) {
  const Counts& counts = all.rows.counts(candidate.key);
  const Details& details = all.rows.details(candidate.key);
  KeyCount out;
  out.hash = KeyHash{counts.tag};
  out.key = all.names.name_of(details);
  out.db = details.db;
  out.key_truncated = details.name_state != kWhole;
  out.low = low(counts);
  out.high = candidate.high;
  const Accesses seen = accesses(counts, details, all.rows.dimension());
  out.reads = seen.reads;
  out.writes = seen.writes;
  out.hits = seen.hits;
  out.bytes = seen.bytes;
  all.tallies.tell(details, all.rows.dimension(), out);
  return out;
}

}  // namespace

void summarize(const SummarizedKeys& all, std::size_t keys_max, CountLevel level, Summary& out) {
  const std::uint64_t total = out.total();
  const std::uint64_t floor = std::max<std::uint64_t>(level.of(total), 1);
  std::vector<Candidate> keys = candidates(all, floor, total);
  out.absent_max = std::max(all.sample.high(all.absent_max), floor - 1);
  if (keys.size() > keys_max) {
    const auto cut = keys.begin() + static_cast<std::ptrdiff_t>(keys_max);
    std::nth_element(keys.begin(), cut, keys.end());
    out.absent_max = std::max(out.absent_max, cut->high);
    keys.erase(cut, keys.end());
  }
  out.absent_max = std::min(out.absent_max, total);
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> busiest;
  busiest.reserve(keys.size());
  for (const Candidate& each : keys) busiest.push_back(each.key);
  all.tallies.give_rows(all.rows, busiest);
  out.keys.reserve(keys.size());
  for (const Candidate& each : keys) out.keys.push_back(key_count(all, each));
}

}  // namespace heatsink::detect
