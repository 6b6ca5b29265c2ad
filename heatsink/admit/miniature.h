// SPDX-License-Identifier: Apache-2.0
// A cache in miniature, without values: tells what one choice would have saved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/admit/choice.h"
#include "heatsink/admit/costs.h"
#include "heatsink/base/clock.h"

namespace heatsink::admit {

// Plays the reads and writes of a sample of the keys against a proportionally small cache
// (Waldspurger et al.: Cache Modeling and Optimization using Miniature Simulations, ATC 2017). One
// thread. O(1) per call, amortised; allocates in the constructor only, about 20 bytes per
// remembered key.
class Miniature {
 public:
  // REQUIRES choice.reads != kNever, and copies * (choice.history + 1) < 65535.
  Miniature(const Choice& choice, std::size_t copies);

  // From now on. Of the costs, `reads_to_pay` counts. `life`: of most copies.
  void set_costs(const Costs& costs, Nanos life);
  // `key` stands for a key; keys that share one count as one. `life`: how long a copy lives if this
  // read makes one.
  void read(std::uint32_t key, TimePoint now, Nanos life);
  void write(std::uint32_t key);

  struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t hits = 0;
    std::uint64_t fills = 0;
    std::uint64_t ended = 0;  // copies that a write ended

    friend Counts operator-(const Counts& now, const Counts& then) {
      return {now.reads - then.reads, now.hits - then.hits, now.fills - then.fills,
              now.ended - then.ended};
    }
  };
  Counts take_counts();  // since the last call
  const Choice& choice() const { return choice_; }
  std::size_t copies() const { return queue_.size; }

 private:
  using Index = std::uint16_t;
  static constexpr Index kNone = UINT16_MAX;

  struct Node {
    std::uint32_t key = 0;
    Index chain = kNone;  // the next node of the same bucket, or the next free node
    Index older = kNone;  // in its list
    Index younger = kNone;
    bool has_copy : 1 = false;
    bool visited : 1 = false;
    std::uint8_t reads = 0;  // recent ones; with a copy: those since its fill, at most 255
    std::uint32_t at = 0;    // of the last one without a copy: misses_
    TimePoint time{};        // without a copy: of the last read; with one: when the copy ends
  };
  struct List {
    Index oldest = kNone;
    Index youngest = kNone;
    std::size_t size = 0;
  };

  Index find(std::uint32_t key) const;
  Index make(std::uint32_t key);
  void free(Index node);
  void push(List& list, Index node);
  void remove(List& list, Index node);
  std::size_t bucket_of(std::uint32_t key) const { return key & (buckets_.size() - 1); }
  void count(Node& node, TimePoint now);
  void fill(Node& node, TimePoint now, Nanos life);
  void miss(Index node, TimePoint now, Nanos life);
  void evict();
  Index next_victim();
  void drop_copy(Index node);

  const Choice choice_;
  const std::size_t copies_max_;
  const std::size_t remembered_max_;
  std::vector<Node> nodes_;
  std::vector<Index> buckets_;
  Index free_ = 0;
  List queue_;                // keys with a copy
  List history_;              // keys without one, by their last read
  Index hand_ = kNone;        // where the next eviction begins (SIEVE); kNone: at the oldest
  std::uint32_t misses_ = 0;  // reads of keys without a copy, modulo 2^32
  std::uint32_t reads_to_pay_ = 1;
  Nanos pause_max_ = Nanos::max();  // between reads that count
  Counts counts_;
};

}  // namespace heatsink::admit
