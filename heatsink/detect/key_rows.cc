// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_rows.h"

#include <cstring>

#include "heatsink/detect/tally_board.h"

namespace heatsink::detect {

void KeyRows::begin(std::uint32_t key, const AccessLog::Entry& entry) noexcept {
  counts_[key] = {};
  counts_[key].tag = entry.tag;
  counts_[key].turn = at_.turn;
  Details& details = details_[key];
  std::memset(details.a, 0, sizeof(details.a));
  std::memset(details.b, 0, sizeof(details.b));
  details.mean = 0;
  details.db = entry.db;
  details.name_end = NamePool::kNone;
  details.name_size = 0;
  details.name_state = kWhole;
  details.admitted = at_.turn;
  details.urgency = 0;
  details.tallies = TallyBoard::kNoRow;
  arm(counts_[key], details, at_, urgent_count_);
}

void KeyRows::roll_now(std::uint32_t key) noexcept {
  detect::roll(counts_[key], details_[key], at_, dimension_);
  arm(counts_[key], details_[key], at_, urgent_count_);
}

bool KeyRows::ring(std::uint32_t key) noexcept {
  Counts& counts = counts_[key];
  if (counts.alarm == kNoAlarm) return false;
  while (counts.count[at_.slot] >= counts.alarm && counts.alarm != kNoAlarm) {
    ++details_[key].urgency;
    arm(counts, details_[key], at_, urgent_count_);
  }
  return true;
}

}  // namespace heatsink::detect
