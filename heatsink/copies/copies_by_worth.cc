// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copies_by_worth.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

namespace heatsink::copies {
namespace {

std::uint32_t reads_answered(const cache::Entry& entry) {
  std::uint32_t reads = 0;
  entry.for_each_copy(
      [&](const cache::Copy& copy) { reads += copy.reads.load(std::memory_order_relaxed); });
  return reads;
}

}  // namespace

std::vector<const cache::Entry*> copies_by_worth(const cache::HotTable& table,
                                                 std::span<const KeyHash> best) {
  std::vector<const cache::Entry*> entries;
  std::unordered_set<std::uint64_t> named;
  for (const KeyHash key : best)
    if (table.has_copy(key) && named.insert(key.value).second) entries.push_back(table.entry(key));
  std::vector<std::pair<std::uint32_t, const cache::Entry*>> others;
  table.for_each_cached([&](const cache::Entry& entry) {
    if (!named.contains(entry.hash().value)) others.emplace_back(reads_answered(entry), &entry);
  });
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [reads, entry] : others) entries.push_back(entry);
  return entries;
}

}  // namespace heatsink::copies
