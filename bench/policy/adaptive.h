// SPDX-License-Identifier: Apache-2.0
// A copy at the k-th read, with k and the order of eviction chosen by miniature simulations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "bench/policy/candidate.h"
#include "bench/policy/copy_policy.h"

namespace heatsink::bench {

// The policy in ten sentences:
//
//  1. A key gets a copy at its k-th read within a history of recent keys without a copy.
//  2. When there is no room, SIEVE or CLOCK chooses the copy that goes.
//  3. k, the length of the history and the order are one of 16 rules.
//  4. All rules run at the same time, each as a simulation of about 256 copies, on the requests of
//     those keys whose hash falls into a sample of 256 / copies.
//  5. A rule's worth is its hits less what its fills cost, per read, with a memory of some 20 reads
//     per copy.
//  6. The rules are compared after 0.5 simulated reads per copy, then after 1.5 times as many as
//     before each, until it is 2 reads per copy.
//  7. Another rule is taken when it is better than the present one by 0.002 per read and by what
//     chance may explain, 0.5 / sqrt(reads remembered).
//  8. While the present rule's worth is below zero by more than 2 % of the simulated copies, no
//     read makes a copy; the simulations go on.
//  9. A write ends the copy; if it had served a read, the next read makes it again, else the key
//     starts from its first read.
// 10. Before the first comparison, k is 1 if fills are free, else 3, with CLOCK.
//
// Not thread-safe. Deterministic. Memory: 20 bytes per key, and 16 * 12 per sampled key; a product
// bounds both by the history.
class AdaptivePolicy final : public CopyPolicy {
 public:
  AdaptivePolicy(std::size_t keys, std::size_t copies, double fill_cost);

  Outcome read(KeyHash key_hash) override;
  void write(KeyHash key_hash) override;

 private:
  struct Miniature {
    Miniature(std::size_t keys, std::size_t copies, const CandidateRule& its_rule)
        : rule(its_rule), candidate(keys, copies, its_rule) {}

    CandidateRule rule;
    Candidate candidate;
    std::uint64_t hits = 0;  // since the last comparison
    std::uint64_t fills = 0;
    double net = 0;  // decayed sum of hits less the cost of fills
  };

  void compare();

  double fill_cost_;
  Candidate live_;
  std::vector<std::uint32_t> sampled_;  // by key, its number in the miniatures, or kNoKey
  std::deque<Miniature> miniatures_;    // whose addresses stay
  std::size_t miniature_copies_ = 0;
  std::size_t current_ = 0;      // the live rule
  double reads_remembered_ = 0;  // decayed sum of sampled reads
  std::uint64_t reads_ = 0;      // sampled, since the last comparison
  std::uint64_t reads_to_comparison_ = 0;
  bool pays_ = true;
};

std::unique_ptr<CopyPolicy> make_adaptive(std::size_t keys, std::size_t copies, double fill_cost);

}  // namespace heatsink::bench
