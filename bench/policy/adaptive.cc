// SPDX-License-Identifier: Apache-2.0
#include "bench/policy/adaptive.h"
#include "heatsink/replay/replay.h"

#include <algorithm>
#include <cmath>

namespace heatsink::bench {
namespace {

constexpr std::size_t kMiniatureCopies = 256;
constexpr double kFirstComparison = 0.5;  // reads per simulated copy
constexpr double kLastComparison = 2;
constexpr double kComparisonGrowth = 1.5;
constexpr double kDecay = 0.9;  // per kLastComparison reads
constexpr double kLeastGain = 0.002;
constexpr double kChance = 0.5;
constexpr double kLossMax = 0.02;  // of the simulated copies

std::vector<CandidateRule> all_rules() {
  std::vector<CandidateRule> rules;
  for (const Order order : {Order::kSieve, Order::kClock}) {
    for (const unsigned reads : {1U, 2U, 3U, 4U, 6U}) rules.push_back({reads, order, 2});
    for (const unsigned reads : {3U, 6U, 10U}) rules.push_back({reads, order, 6});
  }
  return rules;
}

// Copying at once loses nothing while fills are free; the third read is a safe guess otherwise.
unsigned first_reads(double fill_cost) { return fill_cost < 0.3 ? 1 : fill_cost < 0.7 ? 2 : 3; }

bool is_first(const CandidateRule& rule, double fill_cost) {
  return rule.reads == first_reads(fill_cost) && rule.order == Order::kClock && rule.history < 4;
}

}  // namespace

AdaptivePolicy::AdaptivePolicy(std::size_t keys, std::size_t copies, double fill_cost)
    : fill_cost_(fill_cost), live_(keys, copies, CandidateRule{}), sampled_(keys, kNoKey) {
  const std::size_t sample = std::max<std::size_t>(1, copies / kMiniatureCopies);
  std::uint32_t sampled = 0;
  for (std::uint32_t key = 0; key < keys; ++key)
    if ((replay::hash_of_key(key).value >> 20U) % sample == 0) sampled_[key] = sampled++;
  miniature_copies_ = copies / sample;
  for (const CandidateRule& rule : all_rules()) {
    if (is_first(rule, fill_cost)) current_ = miniatures_.size();
    miniatures_.emplace_back(sampled, miniature_copies_, rule);
  }
  live_.set_rule(miniatures_[current_].rule);
  const double first = kFirstComparison * static_cast<double>(miniature_copies_);
  reads_to_comparison_ = static_cast<std::uint64_t>(std::max(first, 16.0));
}

Outcome AdaptivePolicy::read(KeyHash key_hash) {
  const std::uint32_t key = replay::key_of_hash(key_hash);
  if (const std::uint32_t number = sampled_[key]; number != kNoKey) {
    for (Miniature& miniature : miniatures_) {
      const Outcome outcome = miniature.candidate.read(number);
      miniature.hits += outcome.hit ? 1 : 0;
      miniature.fills += outcome.filled ? 1 : 0;
    }
    if (++reads_ >= reads_to_comparison_) compare();
  }
  return live_.read(key, pays_);
}

void AdaptivePolicy::write(KeyHash key_hash) {
  const std::uint32_t key = replay::key_of_hash(key_hash);
  if (const std::uint32_t number = sampled_[key]; number != kNoKey)
    for (Miniature& miniature : miniatures_) miniature.candidate.write(number);
  if (live_.write(key)) ++invalidated_;
}

void AdaptivePolicy::compare() {
  const double reads_max = kLastComparison * static_cast<double>(miniature_copies_);
  const double decay = std::pow(kDecay, static_cast<double>(reads_) / reads_max);
  reads_remembered_ = decay * reads_remembered_ + static_cast<double>(reads_);
  std::size_t best = 0;
  for (std::size_t i = 0; i < miniatures_.size(); ++i) {
    Miniature& one = miniatures_[i];
    one.net = decay * one.net + static_cast<double>(one.hits) -
              fill_cost_ * static_cast<double>(one.fills);
    one.hits = one.fills = 0;
    if (one.net > miniatures_[best].net) best = i;
  }
  reads_ = 0;
  const double next = static_cast<double>(reads_to_comparison_) * kComparisonGrowth + 1;
  reads_to_comparison_ = static_cast<std::uint64_t>(std::min(next, reads_max));
  const double gain = miniatures_[best].net - miniatures_[current_].net;
  if (gain > kLeastGain * reads_remembered_ + kChance * std::sqrt(reads_remembered_)) {
    current_ = best;
    live_.set_rule(miniatures_[best].rule);
  }
  pays_ = miniatures_[current_].net >= -kLossMax * static_cast<double>(miniature_copies_);
}

std::unique_ptr<CopyPolicy> make_adaptive(std::size_t keys, std::size_t copies, double fill_cost) {
  return std::make_unique<AdaptivePolicy>(keys, copies, fill_cost);
}

}  // namespace heatsink::bench
