// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/slot_stats.h"

#include <algorithm>

namespace heatsink::topology {
namespace {

using resp::Value;

double counter_of(const Value* value) {
  return value == nullptr || value->integer < 0 ? 0 : static_cast<double>(value->integer);
}

}  // namespace

std::optional<SlotStats> parse_slot_stats(const Value& reply) {
  if (reply.type != Value::Type::kArray || reply.items.size() > resp::kSlots) return std::nullopt;
  SlotStats out;
  for (const Value& entry : reply.items) {
    const bool sound = entry.items.size() == 2 && entry.items[0].type == Value::Type::kInteger &&
                       entry.items[0].integer >= 0 && entry.items[0].integer < resp::kSlots;
    if (!sound) return std::nullopt;
    const Value& counters = entry.items[1];
    out.has_work = out.has_work || counters.find("cpu-usec") != nullptr;
    out.has_bytes = out.has_bytes || counters.find("network-bytes-in") != nullptr;
    out.slots.push_back({static_cast<std::uint16_t>(entry.items[0].integer),
                         counter_of(counters.find("key-count")),
                         counter_of(counters.find("cpu-usec")),
                         counter_of(counters.find("network-bytes-in")) +
                             counter_of(counters.find("network-bytes-out"))});
  }
  std::ranges::sort(out.slots, {}, &SlotCounters::slot);
  return out;
}

std::vector<SlotLoad> load_between(const SlotStats& from, const SlotStats& to, double seconds) {
  std::vector<SlotLoad> out;
  if (seconds <= 0) return out;
  double all_us = 0;
  for (const SlotCounters& now : to.slots) {
    const auto before = std::ranges::lower_bound(from.slots, now.slot, {}, &SlotCounters::slot);
    if (before == from.slots.end() || before->slot != now.slot || now.cpu_us < before->cpu_us)
      continue;
    const double cpu_us = now.cpu_us - before->cpu_us;
    all_us += cpu_us;
    out.push_back({now.slot, now.keys, cpu_us, std::max(now.bytes - before->bytes, 0.0) / seconds});
  }
  for (SlotLoad& slot : out) slot.cpu_share = all_us > 0 ? slot.cpu_share / all_us : 0;
  std::ranges::stable_sort(out, std::ranges::greater{}, &SlotLoad::cpu_share);
  return out;
}

}  // namespace heatsink::topology
