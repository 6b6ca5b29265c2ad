// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/chooser.h"

#include <algorithm>
#include <bit>

namespace heatsink::admit {
namespace {

// The weight of the past in each decision: after ten intervals a third of it is left.
constexpr double kDecay = 0.9;
// What an alternative must be better by, in the share of the reads: a change costs fills.
constexpr double kMargin = 0.002;
// Less is within the error of the costs, so nothing is copied.
constexpr double kWorthwhile = 0.01;
// An empty cache pays for fills before any copy has served, so it seems to lose. An alternative is
// not judged by kWorthwhile before the miniatures have seen so many reads: it may lose nothing so
// far, but need not gain.
constexpr double kReadsUntilFair = 1024;
constexpr double kLossAtFirst = 0.001;
// The first decision comes early, because a proxy that starts copies nothing useful before it.
constexpr std::uint64_t kFirstInterval = 64;

// What pays differs most in the number of reads before a copy. A long history finds keys that come
// back late, and is of no use to the first read.
std::vector<Choice> alternatives() {
  std::vector<Choice> all;
  // In this order where they are equal.
  for (const EvictionOrder order : {EvictionOrder::kClock, EvictionOrder::kSieve}) {
    for (const std::uint32_t reads : {1U, 2U, 3U, 4U, 6U}) all.push_back({reads, 2, order});
    for (const std::uint32_t reads : {3U, 6U, 10U})
      all.push_back({reads, Choice::kHistoryMax, order});
    // Where a loop does not fit, copies that stay are worth more than any newcomer.
    for (const std::uint32_t reads : {6U, 14U})
      all.push_back({reads, Choice::kHistoryMax, order, 3});
  }
  return all;
}

std::uint64_t mask_for(const ChooserOptions& options) {
  return std::bit_floor(std::max<std::uint64_t>(1, options.copies / options.miniature_copies)) - 1;
}

std::size_t in_miniature(const ChooserOptions& options) {
  return std::max<std::size_t>(options.copies / (mask_for(options) + 1), 1);
}

std::uint32_t number_of(KeyHash key) { return static_cast<std::uint32_t>(key.value); }

}  // namespace

Chooser::Chooser(const ChooserOptions& options, const Choice& first)
    : options_(options),
      sample_mask_(mask_for(options)),
      costs_(options.costs),
      curve_(options.copies, in_miniature(options)),
      choice_(first),
      interval_(kFirstInterval),
      interval_max_(std::max<std::uint64_t>(2 * options.copies / (sample_mask_ + 1), 512)) {
  for (const Choice& choice : alternatives())
    alternatives_.push_back({Miniature(choice, in_miniature(options))});
  if (options.is_guess) guess_ = first;
  set_costs(options.costs);
}

void Chooser::set_costs(const Costs& costs) {
  costs_ = costs;
  if (!guess_) return;
  choice_ = *guess_;
  if (costs.reads_to_pay > ChooserOptions::kGuessedReadsMax) choice_.reads = Choice::kNever;
}

void Chooser::read(KeyHash key, TimePoint now) {
  const Nanos* known = lives_.find(number_of(key));
  const Nanos life = known == nullptr ? options_.life : std::min(*known, options_.life);
  for (Alternative& each : alternatives_) each.miniature.read(number_of(key), now, life);
  curve_.read(number_of(key), now, life);
  if (++reads_ >= interval_) decide();
}

void Chooser::write(KeyHash key) {
  for (Alternative& each : alternatives_) each.miniature.write(number_of(key), costs_.reads_to_pay);
  curve_.write(number_of(key), costs_.reads_to_pay);
}

void Chooser::filled(KeyHash key, Nanos life) { lives_.put(number_of(key), life); }

void Chooser::decide() {
  guess_.reset();
  reads_ = 0;
  interval_ = std::min(interval_ * 2, interval_max_);
  double current = 0;  // kNever saves nothing
  for (Alternative& each : alternatives_) {
    each.tally.add(each.miniature.take_counts(), kDecay);
    if (each.miniature.choice() == choice_) current = each.tally.saved(costs_);
  }
  const Alternative& best = this->best();
  const double needed = best.tally.reads < kReadsUntilFair ? -kLossAtFirst : kWorthwhile;
  const double possible = best.tally.saved(costs_);
  if (possible <= needed && current <= kWorthwhile / 2) {
    choice_.reads = Choice::kNever;
  } else if (possible > current + kMargin) {
    choice_ = best.miniature.choice();
  }
  if (choice_.reads != Choice::kNever) curve_.follow(choice_);
}

// The first one of those that save most.
const Chooser::Alternative& Chooser::best() const {
  return *std::max_element(alternatives_.begin(), alternatives_.end(),
                           [this](const Alternative& one, const Alternative& other) {
                             return one.tally.saved(costs_) < other.tally.saved(costs_);
                           });
}

double Chooser::fills_per_read() const {
  for (const Alternative& each : alternatives_)
    if (each.miniature.choice() == choice_) return each.tally.fills_per_read();
  return best().tally.fills_per_read();
}

std::vector<Chooser::Estimate> Chooser::estimates() const {
  std::vector<Estimate> all;
  for (const Alternative& each : alternatives_)
    all.push_back({each.miniature.choice(), each.tally.saved(costs_)});
  return all;
}

}  // namespace heatsink::admit
