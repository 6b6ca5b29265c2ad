// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/merge.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace heatsink::detect {
namespace {

bool more_often(const Tally& a, const Tally& b) {
  if (a.low != b.low) return a.low > b.low;
  return a.high != b.high ? a.high > b.high : a.name < b.name;
}

// The shard that knows more of a name provides it, in whatever order the shards come.
bool names_better(const KeyCount& a, const KeyCount& b) {
  if (a.key_truncated != b.key_truncated) return b.key_truncated;
  if (a.key.size() != b.key.size()) return a.key.size() > b.key.size();
  return a.key != b.key ? a.key < b.key : a.db < b.db;
}

// The commands, or the clients, of one key in all shards that list it. Names are views into the
// shards.
class TallyJoin {
 public:
  void add_shard(const std::vector<Tally>& tallies, const KeyCount& key) {
    Wide rest = Wide{key.reads} + key.writes;  // accesses that the shard assigned to no name
    for (const Tally& tally : tallies) rest -= std::min(rest, Wide{tally.low});
    rests_ += rest;
    for (const Tally& tally : tallies) {
      entries_.push_back({tally.name, tally.low, Wide{tally.high} - rest});
    }
  }

  std::vector<Tally> finish() {
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    std::vector<Tally> tallies;
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      Wide low = 0, high = rests_;
      const std::string_view name = entry->name;
      for (; entry != entries_.end() && entry->name == name; ++entry) {
        low += entry->low;
        high += entry->excess;
      }
      tallies.push_back({std::string(name), capped_to_64_bits(low), capped_to_64_bits(high)});
    }
    std::sort(tallies.begin(), tallies.end(), more_often);
    return tallies;
  }

 private:
  struct Entry {
    std::string_view name;
    std::uint64_t low;
    Wide excess;  // of high over the high of an absent name; modular, since it may be below 0
  };
  Wide rests_ = 0;
  std::vector<Entry> entries_;
};

// One key in all shards.
class KeyJoin {
 public:
  explicit KeyJoin(KeyHash hash) { sum_.hash = hash; }

  void add_shard(const KeyCount& key, std::uint64_t absent_max) {
    if (named_by_ == nullptr || names_better(key, *named_by_)) named_by_ = &key;
    if (key.key_truncated) sum_.digest = std::max(sum_.digest, key.digest);
    add_capped(sum_.low, key.low);
    excess_ += Wide{key.high} - absent_max;
    add_capped(sum_.reads, key.reads);
    add_capped(sum_.writes, key.writes);
    add_capped(sum_.hits, key.hits);
    add_capped(sum_.bytes, key.bytes);
    commands_.add_shard(key.commands, key);
    clients_.add_shard(key.clients, key);
  }

  KeyCount finish(Wide absent_max) {
    sum_.key = named_by_->key;
    sum_.db = named_by_->db;
    sum_.key_truncated = named_by_->key_truncated;
    // A shard knows the whole name, so the digest is not needed.
    if (!sum_.key_truncated) sum_.digest = 0;
    sum_.high = capped_to_64_bits(absent_max + excess_);
    sum_.commands = commands_.finish();
    sum_.clients = clients_.finish();
    return std::move(sum_);
  }

 private:
  KeyCount sum_;
  const KeyCount* named_by_ = nullptr;
  Wide excess_ = 0;  // of high over the absent_max of the shards that list the key; modular
  TallyJoin commands_, clients_;
};

// The keys, or the templates, of all shards.
class ListJoin {
 public:
  void add_shard(const std::vector<KeyCount>& list, std::uint64_t absent_max) {
    absent_max_ += absent_max;
    for (const KeyCount& key : list) {
      const auto [place, is_new] = places_.try_emplace(key.hash.value, keys_.size());
      if (is_new) keys_.emplace_back(key.hash);
      keys_[place->second].add_shard(key, absent_max);
    }
  }

  std::uint64_t absent_max() const { return capped_to_64_bits(absent_max_); }

  std::vector<KeyCount> finish() {
    std::vector<KeyCount> list;
    list.reserve(keys_.size());
    for (KeyJoin& key : keys_) list.push_back(key.finish(absent_max_));
    std::sort(list.begin(), list.end(), is_busier);
    return list;
  }

 private:
  Wide absent_max_ = 0;
  std::vector<KeyJoin> keys_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

void cut_list(std::vector<KeyCount>& list, std::size_t size_max, std::uint64_t& absent_max) {
  if (list.size() <= size_max) return;
  const auto first_out = list.begin() + static_cast<std::ptrdiff_t>(size_max);
  absent_max = std::max(absent_max, first_out->high);
  list.erase(first_out, list.end());
}

void keep_most_often(std::vector<Tally>& tallies) {
  if (tallies.size() > kTalliesMax) tallies.resize(kTalliesMax);
}

}  // namespace

void add_totals(Summary& out, const Summary& shard) {
  out.at = std::max(out.at, shard.at);
  out.window = std::max(out.window, shard.window);
  if (shard.window != Nanos{}) out.dimension = shard.dimension;
  out.covered = std::max(out.covered, shard.covered);
  out.covers_window |= shard.covers_window;
  out.sampled |= shard.sampled;
  add_capped(out.requests, shard.requests);
  add_capped(out.reads, shard.reads);
  add_capped(out.writes, shard.writes);
  add_capped(out.hits, shard.hits);
  add_capped(out.bytes, shard.bytes);
}

bool is_busier(const KeyCount& a, const KeyCount& b) {
  return a.high != b.high ? a.high > b.high : a.hash.value < b.hash.value;
}

Status mergeable(const Summary& a, const Summary& b) {
  if (a.window == Nanos{} || b.window == Nanos{}) return Unit{};
  if (a.window != b.window) {
    return invalid_argument(
        "cannot merge summaries with windows of different lengths: "
        "configure the same window on all nodes");
  }
  if (a.dimension != b.dimension) {
    return invalid_argument(std::string("cannot merge a summary of ") + to_string(a.dimension) +
                            " with one of " + to_string(b.dimension));
  }
  return Unit{};
}

Summary join(std::span<const Summary> shards) {
  Summary out;
  ListJoin keys, templates;
  for (const Summary& shard : shards) {
    assert(mergeable(out, shard).ok());
    add_totals(out, shard);
    keys.add_shard(shard.keys, shard.absent_max);
    // All accesses of a shard that does not count templates may have one of them.
    static const std::vector<KeyCount> kNotCounted;
    if (shard.templates) out.templates.emplace();
    templates.add_shard(shard.templates ? shard.templates->list : kNotCounted,
                        shard.templates ? shard.templates->absent_max : shard.requests);
  }
  out.absent_max = keys.absent_max();
  out.keys = keys.finish();
  if (out.templates) *out.templates = {templates.absent_max(), templates.finish()};
  return out;
}

void cut(Summary& summary, std::size_t keys_max) {
  cut_list(summary.keys, keys_max, summary.absent_max);
  for (KeyCount& key : summary.keys) {
    keep_most_often(key.commands);
    keep_most_often(key.clients);
  }
  if (summary.templates)
    cut_list(summary.templates->list, kTemplatesMax, summary.templates->absent_max);
}

Summary merge(std::span<const Summary> shards, std::size_t keys_max) {
  Summary merged = join(shards);
  cut(merged, keys_max);
  return merged;
}

}  // namespace heatsink::detect
