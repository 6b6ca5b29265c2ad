// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <limits>
#include <utility>

#include "heatsink/resp/key_slot.h"

namespace heatsink::observe {

LfuSlots::LfuSlots() : slots_(resp::kSlots) {}

void LfuSlots::add(std::uint16_t slot, int counter) {
  Slot& at = slots_[slot];
  constexpr std::uint32_t kKeysMax = std::numeric_limits<std::uint32_t>::max();
  if (at.keys == kKeysMax) return;
  ++at.keys;
  if (counter <= kLfuBegin) return;
  ++at.raised;
  at.steps += static_cast<std::uint64_t>(counter - kLfuBegin);
}

std::vector<SlotSeen> LfuSlots::busiest(const LfuSettings& settings) const {
  std::vector<SlotSeen> out;
  if (settings.decay_minutes <= 0) return out;
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.raised == 0) continue;
    out.push_back({.slot = static_cast<std::uint16_t>(i),
                   .keys = static_cast<double>(slot.keys),
                   .cpu_share = kUnknown,
                   .bytes_rate = kUnknown,
                   .rate = lfu_rates_sum(static_cast<double>(slot.raised),
                                         static_cast<double>(slot.steps), settings)});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &SlotSeen::rate);
  if (out.size() > kTold) out.resize(kTold);
  return out;
}

std::string LfuSlots::saved() const {
  std::string lines;
  std::size_t count = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.keys == 0) continue;
    lines += fmt::format("{} {} {} {}\n", i, slot.keys, slot.raised, slot.steps);
    ++count;
  }
  return fmt::format("{}\n{}", count, lines);
}

bool LfuSlots::is_sound(const Slot& slot) {
  constexpr std::uint64_t kStepsMax = kLfuMost - kLfuBegin;
  return slot.raised <= slot.keys && slot.steps >= slot.raised &&
         slot.steps <= slot.raised * kStepsMax;
}

bool LfuSlots::restore(std::istream& in) {
  std::size_t count = 0;
  if (!(in >> count) || count > slots_.size()) return false;
  std::vector<Slot> read(slots_.size());
  for (; count > 0; --count) {
    std::size_t at = 0;
    Slot slot;
    if (!(in >> at >> slot.keys >> slot.raised >> slot.steps)) return false;
    if (at >= read.size() || !is_sound(slot)) return false;
    read[at] = slot;
  }
  slots_ = std::move(read);
  return true;
}

}  // namespace heatsink::observe
