// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/copy_simulator.h"

#include <algorithm>
#include <span>

namespace heatsink::replay {

std::uint64_t bytes_read(const Trace& trace, const CopyRules& rules) {
  std::uint64_t bytes = 0;
  for (const TraceAccess& access : trace.accesses) {
    if (access.operation() == Operation::kWrite) continue;
    bytes += access.bytes_known() ? access.value_bytes() : rules.value_bytes_assumed.count;
  }
  return bytes;
}

void CopySimulator::enter(std::uint32_t key, std::int64_t now_ns, std::vector<Move>& moves) {
  Entry entry;
  entry.since_ns = now_ns;
  entries_.emplace(key, entry);
  moves.push_back({key, true});
  ++tally_.promotions;
  tally_.entries_peak = std::max<std::uint64_t>(tally_.entries_peak, entries_.size());
}

// Keys whose minimum residence is over, least busy first.
std::vector<std::uint32_t> CopySimulator::displaceable(std::int64_t now_ns) const {
  std::vector<std::uint32_t> keys;
  for (const auto& [key, entry] : entries_)
    if (now_ns - entry.since_ns >= rules_.minimum_residence.count()) keys.push_back(key);
  std::sort(keys.begin(), keys.end(), [this](std::uint32_t a, std::uint32_t b) {
    return rates_[a] != rates_[b] ? rates_[a] < rates_[b] : a < b;
  });
  return keys;
}

void CopySimulator::admit(std::span<const std::uint32_t> hot, std::int64_t now_ns,
                          std::vector<Move>& moves) {
  std::vector<std::uint32_t> weakest;
  std::size_t taken_over = 0;
  bool looked = false;
  for (const std::uint32_t key : hot) {
    if (entries_.contains(key)) continue;
    if (entries_.size() < capacity_.entries_max) {
      enter(key, now_ns, moves);
      continue;
    }
    if (!looked) weakest = displaceable(now_ns);
    looked = true;
    if (taken_over == weakest.size()) return;
    const std::uint32_t holder = weakest[taken_over];
    // later keys are not busier, either
    if (rates_[holder] >= rates_[key] * rules_.demote_ratio) return;
    ++taken_over;
    ++tally_.displaced;
    demote(holder);
    moves.push_back({holder, false});
    enter(key, now_ns, moves);
  }
}

void CopySimulator::demote(std::uint32_t key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  drop(found->second);
  entries_.erase(found);
}

void CopySimulator::drop(Entry& entry) {
  bytes_ -= entry.copy_bytes;
  entry.copy_bytes = 0;
}

void CopySimulator::access(const TraceAccess& access) {
  const auto found = entries_.find(access.key);
  if (found == entries_.end()) return;
  if (access.operation() == Operation::kGet) get(access.key, found->second, access);
  if (access.operation() == Operation::kWrite) drop(found->second);
}

void CopySimulator::get(std::uint32_t key, Entry& entry, const TraceAccess& access) {
  const std::uint64_t value =
      access.bytes_known() ? access.value_bytes() : rules_.value_bytes_assumed.count;
  if (entry.copy_bytes > 0 && access.at_ns < entry.expires_ns) {
    ++tally_.hits;
    tally_.hit_bytes += value;
    return;
  }
  drop(entry);
  if (access.at_ns < entry.retry_ns) return;
  const std::uint64_t bytes = kCopyOverheadBytes + names_.name(key).size() + value;
  if (value > rules_.value_bytes_max.count || !make_room(key, bytes, access.at_ns)) {
    ++tally_.refused;
    entry.retry_ns = access.at_ns + rules_.retry_after.count();
    return;
  }
  ++tally_.fills;
  if (entry.filled_before) ++tally_.refills;
  entry.filled_before = true;
  entry.copy_bytes = bytes;
  entry.expires_ns = access.at_ns + rules_.expire_after_write.count();
  bytes_ += bytes;
  tally_.bytes_peak = std::max(tally_.bytes_peak, bytes_);
}

// The copies worth less than `worth`, lowest first. Equal ones are sorted by key, for determinism.
std::vector<CopySimulator::Victim> CopySimulator::worth_less(std::uint32_t key,
                                                             double worth) const {
  std::vector<Victim> victims;
  for (const auto& [other, entry] : entries_) {
    if (other == key || entry.copy_bytes == 0) continue;
    const double its_worth = rates_[other] / static_cast<double>(entry.copy_bytes);
    if (its_worth < worth) victims.push_back({its_worth, other});
  }
  std::sort(victims.begin(), victims.end(), [](const Victim& a, const Victim& b) {
    return a.worth != b.worth ? a.worth < b.worth : a.key < b.key;
  });
  return victims;
}

// Makes room completely or not at all, and never removes copies worth more than the new one.
bool CopySimulator::make_room(std::uint32_t key, std::uint64_t bytes, std::int64_t now_ns) {
  if (bytes_ + bytes <= capacity_.bytes_max.count) return true;
  const std::uint64_t needed = bytes_ + bytes - capacity_.bytes_max.count;
  const std::vector<Victim> victims = worth_less(key, rates_[key] / static_cast<double>(bytes));
  std::uint64_t freed = 0;
  double lost_rate = 0;
  std::size_t chosen = 0;
  for (; chosen < victims.size() && freed < needed; ++chosen) {
    const std::uint32_t victim = victims[chosen].key;
    freed += entries_.find(victim)->second.copy_bytes;
    lost_rate += rates_[victim];
  }
  if (freed < needed || lost_rate >= rates_[key]) return false;
  for (const Victim& victim : std::span(victims).first(chosen)) {
    Entry& entry = entries_.find(victim.key)->second;
    drop(entry);
    entry.retry_ns = now_ns + rules_.retry_after.count();
    ++tally_.evictions;
  }
  return true;
}

}  // namespace heatsink::replay
