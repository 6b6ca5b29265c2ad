// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_tallies.h"

#include <algorithm>
#include <bit>

namespace heatsink::detect {
namespace {

// Up to this rate each access feeds the tallies; above it a sample of them.
constexpr std::uint64_t kTalliesPerSecond = 16'384;
constexpr std::uint64_t kTallyFactorMax = 64;

}  // namespace

void KeyTallies::follow(Sampler& sampler) noexcept {
  if (names_ == nullptr) return;
  // The remaining gap may be drawn again: independent choices have no memory.
  const std::uint64_t times = sampler.rate() / kTalliesPerSecond;
  factor_ = std::bit_ceil(
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(times, 1, kTallyFactorMax)));
  left_ = sampler.skip(factor_);
}

void KeyTallies::add(const Details& details, const AccessLog::Entry& entry,
                     Sampler& sampler) noexcept {
  left_ = sampler.skip(factor_);
  if (details.tallies != TallyBoard::kNoRow) board_.add(details.tallies, entry, factor_);
}

void KeyTallies::give_rows(KeyRows& rows, std::span<const std::uint32_t> busiest) noexcept {
  busiest = busiest.first(std::min(busiest.size(), board_.size()));
  board_.begin();
  for (const std::uint32_t key : busiest) {
    if (rows.details(key).tallies != TallyBoard::kNoRow) board_.keep(rows.details(key).tallies);
  }
  for (const std::uint32_t key : busiest) {
    if (rows.details(key).tallies != TallyBoard::kNoRow) continue;
    std::uint32_t before = TallyBoard::kNobody;
    rows.details(key).tallies = board_.take(key, &before);
    if (before != TallyBoard::kNobody) rows.details(before).tallies = TallyBoard::kNoRow;
  }
}

void KeyTallies::tell(const Details& details, Dimension dimension, KeyCount& out) const {
  if (details.tallies == TallyBoard::kNoRow) return;
  const bool exact = dimension == Dimension::kRequests;
  board_.tell(details.tallies, *names_, exact ? out.high : out.reads + out.writes, out);
}

}  // namespace heatsink::detect
