// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/summary.h"

#include <algorithm>
#include <unordered_map>

namespace heatsink::detect {
namespace {

// How much of a name is known decides which of two shards names the key, whatever their order.
bool names_better(const KeyCount& a, const KeyCount& b) {
  if (a.key_truncated != b.key_truncated) return b.key_truncated;
  if (a.key.size() != b.key.size()) return a.key.size() > b.key.size();
  return a.key != b.key ? a.key < b.key : a.db < b.db;
}

void add_totals(Summary& out, const Summary& shard) {
  out.at = std::max(out.at, shard.at);
  out.window = std::max(out.window, shard.window);
  out.dimension = shard.dimension;
  // Of shards of one traffic the younger ones had none to see before they were there.
  out.covered = std::max(out.covered, shard.covered);
  out.settled |= shard.settled;
  out.sampled |= shard.sampled;
  out.requests += shard.requests;
  out.reads += shard.reads;
  out.writes += shard.writes;
  out.hits += shard.hits;
  out.bytes += shard.bytes;
  out.absent_max += shard.absent_max;
}

// `high` holds the excess over the sum of all absent_max until every shard has been seen: modular
// arithmetic, so that shards may come in any order.
void add_key(KeyCount& out, const KeyCount& key, std::uint64_t absent_max) {
  if (names_better(key, out)) {
    out.key = key.key;
    out.db = key.db;
    out.key_truncated = key.key_truncated;
  }
  out.low += key.low;
  out.high += key.high - absent_max;
  out.reads += key.reads;
  out.writes += key.writes;
  out.hits += key.hits;
  out.bytes += key.bytes;
}

bool busier(const KeyCount& a, const KeyCount& b) {
  return a.high != b.high ? a.high > b.high : a.hash.value < b.hash.value;
}

void keep_busiest(Summary& out, std::size_t keys_max) {
  if (out.keys.size() > keys_max) {
    const auto cut = out.keys.begin() + static_cast<std::ptrdiff_t>(keys_max);
    std::nth_element(out.keys.begin(), cut, out.keys.end(), busier);
    out.absent_max = std::max(out.absent_max, cut->high);
    out.keys.erase(cut, out.keys.end());
  }
  std::sort(out.keys.begin(), out.keys.end(), busier);
}

}  // namespace

std::uint64_t Summary::total() const {
  switch (dimension) {
    case Dimension::kBytes:
      return bytes;
    case Dimension::kWrites:
      return writes;
    case Dimension::kMisses:
      return reads - std::min(reads, hits);
    case Dimension::kRequests:
      break;
  }
  return requests;
}

double Summary::seconds() const {
  return std::chrono::duration<double>(settled ? covered : window).count();
}

Summary merge(std::span<const Summary> shards, std::size_t keys_max) {
  Summary out;
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (const Summary& shard : shards) {
    add_totals(out, shard);
    for (const KeyCount& key : shard.keys) {
      const auto [place, is_new] = places.try_emplace(key.hash.value, out.keys.size());
      if (is_new) {
        out.keys.push_back(key);
        out.keys.back().high -= shard.absent_max;
      } else {
        add_key(out.keys[place->second], key, shard.absent_max);
      }
    }
  }
  for (KeyCount& key : out.keys) key.high += out.absent_max;
  keep_busiest(out, keys_max);
  return out;
}

}  // namespace heatsink::detect
