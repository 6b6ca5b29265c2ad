// SPDX-License-Identifier: Apache-2.0
// For tests: random summaries of shards, together with the truth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "heatsink/detect/merge.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

// The true count of a key in all shards, and of its clients, among the accesses that shards saw.
struct TrueCount {
  std::uint64_t count = 0;
  std::map<std::string, std::uint64_t> clients;
};

struct Cluster {
  std::vector<Summary> shards;
  std::map<std::uint64_t, TrueCount> truth;  // by hash
};

// Shards that know some of 40 keys each, with bounds around the truth. Not thread-safe.
class ClusterMaker {
 public:
  explicit ClusterMaker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  Cluster make() {
    Cluster cluster;
    for (std::uint64_t shard = 0, shards = 1 + below(5); shard < shards; ++shard) {
      cluster.shards.push_back(shard_of(cluster));
    }
    return cluster;
  }

  // A union of `shards` and one that saw nothing, by joins of random neighbours.
  template <class Join>
  Summary in_random_groups(std::vector<Summary> shards, const Join& join_all) {
    shards.emplace_back();
    std::shuffle(shards.begin(), shards.end(), random_);
    while (shards.size() > 1) {
      const std::size_t first = below(shards.size() - 1);
      shards[first] = join_all(std::vector{shards[first], shards[first + 1]});
      shards.erase(shards.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    }
    return shards.front();
  }

 private:
  Summary shard_of(Cluster& cluster) {
    Summary shard;
    shard.at = TimePoint(std::chrono::seconds(below(100)));
    shard.window = std::chrono::seconds(10);
    shard.covered = std::chrono::seconds(below(11));
    shard.covers_window = below(2) == 0;
    shard.sampled = below(4) == 0;
    shard.absent_max = below(20);
    for (std::uint64_t hash = 1; hash <= 40; ++hash) {
      TrueCount& truth = cluster.truth[hash];
      if (below(2) == 0) {
        truth.count += below(shard.absent_max + 1);
      } else {
        shard.keys.push_back(key_of(hash, truth));
      }
    }
    std::sort(shard.keys.begin(), shard.keys.end(), is_busier);
    for (const KeyCount& key : shard.keys) {
      shard.reads += key.reads;
      shard.writes += key.writes;
      shard.bytes += key.bytes;
    }
    shard.requests = shard.reads + shard.writes;
    return shard;
  }

  KeyCount key_of(std::uint64_t hash, TrueCount& truth) {
    const std::uint64_t count = 1 + below(100);
    truth.count += count;
    KeyCount key;
    key.hash = {hash};
    key.key = "key:" + std::to_string(hash);
    key.key_truncated = below(3) == 0;
    if (key.key_truncated) {
      key.key.pop_back();
      key.digest = hash;
    }
    key.low = count - below(count);
    key.high = count + below(10);
    key.writes = below(key.low + 1);
    key.reads = key.low - key.writes;
    key.hits = below(key.reads + 1);
    key.bytes = below(1000);
    tally(key, truth);
    return key;
  }

  // Assigns the accesses to a few clients, and lists some of them, within bounds.
  void tally(KeyCount& key, TrueCount& truth) {
    std::map<std::string, std::uint64_t> clients;
    for (std::uint64_t i = 0; i < key.low; ++i) {
      ++clients["10.0.0." + std::to_string(below(1 + below(12)))];
    }
    for (const auto& [name, count] : clients) {
      truth.clients[name] += count;
      if (key.clients.size() == kTalliesMax || below(3) == 0) continue;
      key.clients.push_back({name, count - below(count), count + below(3)});
    }
  }

  std::mt19937_64 random_;
};

}  // namespace heatsink::detect
