// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <optional>
#include <string>

#include "heatsink/replay/choice.h"

namespace heatsink::replay {
namespace {

std::string percent(double ratio) { return fmt::format("{:.1f} %", ratio * 100); }

std::string text(const Capacity& capacity) {
  return capacity.bytes_max < kNoByteLimit ? format_bytes(capacity.bytes_max)
                                           : fmt::format("{} copies", capacity.entries_max);
}

// A power of two with room for twice the peak, at least 1 MiB.
Bytes room_for(const EarnedSaving& saving) {
  if (saving.capacity.bytes_max < kNoByteLimit) return saving.capacity.bytes_max;
  return {std::bit_ceil(std::max<std::uint64_t>(2 * saving.bytes_peak, 1U << 20U))};
}

// To MiB, or to KiB if it is less than one.
Bytes rounded_up(std::uint64_t bytes) {
  const std::uint64_t unit = bytes > (1U << 20U) ? 1U << 20U : 1U << 10U;
  return {(bytes + unit - 1) / unit * unit};
}

std::string why(const Budget& budget, const std::vector<EarnedSaving>& savings) {
  std::string out = fmt::format(
      "they spare the server {} of its work for these requests, less what fills and ends of copies "
      "cost it, and {} of the commands",
      percent(budget.chosen.server_ratio), percent(budget.chosen.net_ratio));
  for (const EarnedSaving& other : savings) {
    if (other.capacity == budget.chosen.capacity) continue;
    out += fmt::format("; {} would spare {}", text(other.capacity), percent(other.server_ratio));
  }
  return out + ".";
}

}  // namespace

Budget recommend_budget(const std::vector<EarnedSaving>& savings) {
  assert(!savings.empty());
  Budget out;
  std::vector<EarnedSaving> rising = savings;
  std::stable_sort(rising.begin(), rising.end(), [](const EarnedSaving& a, const EarnedSaving& b) {
    return is_smaller(a.capacity, b.capacity);
  });
  std::vector<double> saved;
  saved.reserve(rising.size());
  for (const EarnedSaving& saving : rising) saved.push_back(saving.server_ratio);
  out.best = rising[static_cast<std::size_t>(std::max_element(saved.begin(), saved.end()) -
                                             saved.begin())];
  const std::optional<std::size_t> enough = admit::right_size(saved);
  out.caching = enough.has_value();
  out.chosen = enough ? rising[*enough] : out.best;
  out.cache_bytes = room_for(out.chosen);
  if (!out.caching) {
    out.reasons = {
        {"Are copies worth it?", "no",
         fmt::format("the best of the sizes tried, {}, spares the server {} of its work "
                     "for these requests; below {} it is not worth its memory. The "
                     "proxy finds this out by itself and copies nothing.",
                     text(out.best.capacity), percent(std::max(out.best.server_ratio, 0.0)),
                     percent(admit::kSavedWorthwhile))}};
    return out;
  }
  out.reasons = {
      {"How many copies?", text(out.chosen.capacity), why(out, savings)},
      {"How much memory?", format_bytes(out.cache_bytes),
       fmt::format("{} copies took {} at most (cache.maximum-bytes).", out.chosen.copies_peak,
                   format_bytes(rounded_up(out.chosen.bytes_peak)))}};
  return out;
}

}  // namespace heatsink::replay
