// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/chooser.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

namespace heatsink::admit {
namespace {

// The weight of the past in each decision: after ten intervals a third of it is left.
constexpr double kDecay = 0.9;
// What an alternative must be better by, in the share of the reads: a change costs fills.
constexpr double kMargin = 0.002;
// Less is within the error of the costs, so nothing is copied.
constexpr double kWorthwhile = 0.01;
// Where nothing is copied, copies begin for more than that: each beginning costs fills, and the
// counting of all reads as much as copies spare where they save little.
constexpr double kWorthBeginning = 0.05;
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
  // Such copies come and go by their time, so the order does not matter.
  for (const std::uint32_t pace : {1U, 3U})
    for (const std::uint32_t reads : {3U, 4U, 6U, 10U})
      all.push_back({.reads = reads, .history = Choice::kHistoryMax, .pace = pace});
  return all;
}

std::uint64_t mask_for(const ChooserOptions& options) {
  return std::bit_floor(std::max<std::uint64_t>(1, options.copies / options.miniature_copies)) - 1;
}

std::size_t in_miniature(const ChooserOptions& options) {
  return std::max<std::size_t>(options.copies / (mask_for(options) + 1), 1);
}

double to_seconds(Nanos span) { return std::chrono::duration<double>(span).count(); }

std::uint32_t number_of(KeyHash key) { return static_cast<std::uint32_t>(key.value); }

}  // namespace

Chooser::Chooser(const ChooserOptions& options, const Choice& first)
    : options_(options),
      sample_mask_(mask_for(options)),
      costs_(options.costs),
      curve_(options.copies, in_miniature(options)),
      choice_(first),
      interval_(kFirstInterval),
      began_by_guess_(options.is_guess),
      interval_max_(std::max<std::uint64_t>(2 * options.copies / (sample_mask_ + 1), 512)),
      in_fact_(options.life) {
  for (const Choice& choice : alternatives())
    alternatives_.push_back({Miniature(choice, in_miniature(options))});
  if (options.is_guess) guess_ = first;
  set_costs(options.costs);
}

void Chooser::set_costs(const Costs& costs) {
  costs_ = costs;
  for (Alternative& each : alternatives_) each.miniature.set_costs(costs, options_.life);
  curve_.set_costs(costs, options_.life);
  if (!guess_) return;
  const bool is_dear = costs.reads_to_pay > ChooserOptions::kGuessedReadsMax;
  choice_ = is_dear ? ChooserOptions::kGuess : *guess_;
}

void Chooser::read(KeyHash key, TimePoint now) {
  const Nanos* known = lives_.find(number_of(key));
  const Nanos life = known == nullptr ? options_.life : std::min(*known, options_.life);
  for (Alternative& each : alternatives_) each.miniature.read(number_of(key), now, life);
  curve_.read(number_of(key), now, life);
  if (++reads_ >= interval_) decide(now);
}

void Chooser::write(KeyHash key) {
  for (Alternative& each : alternatives_) each.miniature.write(number_of(key));
  curve_.write(number_of(key));
}

void Chooser::filled(KeyHash key, Nanos life) { lives_.put(number_of(key), life); }

void Chooser::decide(TimePoint now) {
  guess_.reset();
  reads_ = 0;
  interval_ = std::min(interval_ * 2, interval_max_);
  const TimePoint before = std::exchange(decided_at_, now);
  // The first call does not know since when the reads have come.
  if (before != TimePoint{}) seconds_ = seconds_ * kDecay + to_seconds(now - before);
  double current = 0;  // kNever saves nothing
  for (Alternative& each : alternatives_) {
    each.tally.add(each.miniature.take_counts(), kDecay);
    if (each.miniature.choice() == choice_) current = each.tally.saved(costs_);
  }
  const Alternative& best = this->best();
  const bool is_fair = best.tally.reads >= kReadsUntilFair;
  const bool copies_nothing = choice_.reads == Choice::kNever;
  double needed = is_fair ? kWorthwhile : -kLossAtFirst;
  if (copies_nothing) needed = std::max(kWorthBeginning, in_fact_.doubt());
  const double possible = best.tally.saved(costs_);
  if (possible <= needed && current <= kWorthwhile / 2) {
    const bool is_known = is_fair || !began_by_guess_;
    if (is_known && in_fact_.saved(costs_) <= kWorthwhile) choice_.reads = Choice::kNever;
  } else if (possible > current + kMargin && (is_fair || !options_.is_proven)) {
    if (copies_nothing) in_fact_.begin();
    choice_ = best.miniature.choice();
  }
  if (choice_.reads != Choice::kNever) curve_.follow(choice_);
}

void Chooser::measured(const Miniature::Counts& counts) {
  in_fact_.note(counts, costs_);
  if (choice_.reads == Choice::kNever || guess_ || !in_fact_.loses()) return;
  in_fact_.give_up(std::max(best().tally.saved(costs_), kWorthwhile));
  choice_.reads = Choice::kNever;
}

// The first one of those that save most.
const Chooser::Alternative& Chooser::best() const {
  return *std::max_element(alternatives_.begin(), alternatives_.end(),
                           [this](const Alternative& one, const Alternative& other) {
                             return one.tally.saved(costs_) < other.tally.saved(costs_);
                           });
}

// The history that readers keep has no times. What counts is how many reads come in the pause.
std::uint64_t Chooser::history() const {
  const std::uint64_t longest = options_.copies * choice_.history;
  if (choice_.pace == Choice::kAnyPace || seconds_ <= 0) return longest;
  double misses = 0;
  for (const Alternative& each : alternatives_)
    if (each.miniature.choice() == choice_) misses = each.tally.reads - each.tally.hits;
  const double pause = to_seconds(choice_.pace * pay_pause(options_.life, costs_));
  const double in_pause = pause * misses / seconds_ * static_cast<double>(sample_mask_ + 1);
  return static_cast<std::uint64_t>(std::min(in_pause, static_cast<double>(longest)));
}

const Chooser::Alternative& Chooser::current_or_best() const {
  for (const Alternative& each : alternatives_)
    if (each.miniature.choice() == choice_) return each;
  return best();
}

double Chooser::fills_per_read() const { return current_or_best().tally.fills_per_read(); }
double Chooser::hits_per_read() const { return current_or_best().tally.hits_per_read(); }

std::vector<Chooser::Estimate> Chooser::estimates() const {
  std::vector<Estimate> all;
  for (const Alternative& each : alternatives_)
    all.push_back({each.miniature.choice(), each.tally.saved(costs_)});
  return all;
}

}  // namespace heatsink::admit
