// SPDX-License-Identifier: Apache-2.0
// heatsink's own policy: a copy at the k-th read, chosen by the product's code (heatsink/admit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/policy/copy_policy.h"
#include "bench/policy/key_queue.h"
#include "heatsink/admit/admit.h"

namespace heatsink::bench {

// What is chosen, and the count of reads, are the product's; the table of copies stands in for the
// hot table: an entry per key, without values and bytes. Not thread-safe. Deterministic. Memory: 11
// bytes per key, and that of the Chooser.
class EarnedPolicy final : public CopyPolicy {
 public:
  EarnedPolicy(std::size_t keys, std::size_t copies, double fill_cost);

  Outcome read(KeyHash key_hash) override;
  void write(KeyHash key_hash) override;

 private:
  struct Entry {
    bool is_held = false;
    bool is_filled = false;
    std::uint32_t served = 0;  // reads since its last fill
    bool is_visited = false;
  };

  bool earns_copy(KeyHash key_hash);
  void evict();
  void drop(std::uint32_t key);

  const std::uint32_t reads_to_pay_;  // see admit::Costs
  admit::Chooser chooser_;
  admit::Sightings sightings_;
  admit::SightingCounter counter_;
  std::vector<KeyLink> links_;
  std::vector<Entry> entries_;
  KeyQueue queue_;  // held keys by age
  std::uint32_t hand_ = kNoKey;
  const std::size_t copies_max_;
};

std::unique_ptr<CopyPolicy> make_earned(std::size_t keys, std::size_t copies, double fill_cost);

}  // namespace heatsink::bench
