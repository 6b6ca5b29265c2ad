// SPDX-License-Identifier: Apache-2.0
// Chooses which keys get a copy, by what the alternatives would have saved on the traffic so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heatsink/admit/choice.h"
#include "heatsink/admit/copy_curve.h"
#include "heatsink/admit/costs.h"
#include "heatsink/admit/miniature.h"
#include "heatsink/admit/savings_in_fact.h"
#include "heatsink/admit/tally.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::admit {

struct ChooserOptions {
  std::size_t copies = 4096;              // keys that may have a copy
  Costs costs = {};                       // until set_costs()
  Nanos life = std::chrono::seconds(60);  // of a copy whose key has no shorter TTL
  // Copies in a miniature. More: a better choice on a quiet server, and more CPU time.
  std::size_t miniature_copies = 512;
  // The first choice is a guess: as long as a copy has to answer more than kGuessedReadsMax reads
  // to pay, kGuess takes its place until the first decision.
  bool is_guess = false;
  // The first choice is of somebody who had read enough (a hand-over). It stands until this one
  // has, too: at first it has paid for fills, and what copies less has lost less.
  bool is_proven = false;
  static constexpr std::uint32_t kGuessedReadsMax = 2;
  // As who does not know for how long to hire waits with buying until the hire has cost as much
  // (Karlin et al., Competitive Snoopy Caching, 1988), a key gets a copy only when it has been read
  // about as often as the copy has to answer.
  static constexpr Choice kGuess{.reads = 6, .history = Choice::kHistoryMax, .pace = 1};
};

// Plays every alternative in miniature on a sample of the keys, chosen by hash: all reads of a
// sampled key count. One thread, but samples() may be called by any. Memory: 2 MB.
class Chooser {
 public:
  // `first`: chosen until the first decision.
  explicit Chooser(const ChooserOptions& options, const Choice& first = {});

  // Whether the key's reads and writes are wanted. About one key in
  // options.copies / options.miniature_copies.
  bool samples(KeyHash key) const noexcept { return is_sampled(key, sample_mask_); }
  static bool is_sampled(KeyHash key, std::uint64_t mask) noexcept {
    return (key.value >> 32U & mask) == 0;
  }
  std::uint64_t sample_mask() const { return sample_mask_; }
  std::size_t copies() const { return options_.copies; }
  // The history of the choice, as SightingCounter::see() has it: in reads of keys without a copy.
  std::uint64_t history() const;

  // REQUIRES samples(key). O(1), 0.6 to 0.8 us.
  void read(KeyHash key, TimePoint now);
  void write(KeyHash key);
  // A fill has shown how long copies of this key live.
  void filled(KeyHash key, Nanos life);

  // What all copies have done since the last call, of about a second. Where they pay in fact, they
  // are not given up for what the sample says: the busiest keys may be outside of it. Where they
  // lose in fact, they are given up, whatever the sample says (docs/decisions/0126).
  void measured(const Miniature::Counts& counts);
  // From now on, for the past as well (but reads_to_pay).
  void set_costs(const Costs& costs);

  const Choice& choice() const { return choice_; }
  bool is_guess() const { return guess_.has_value(); }

  struct Estimate {
    Choice choice;
    double saved;  // share of the reads that copies answer, less the costs; may be negative
  };
  std::vector<Estimate> estimates() const;  // one per alternative
  // The rate of the current choice, or of the best alternative if nothing is copied.
  double fills_per_read() const;
  double hits_per_read() const;  // of the same
  // For the latest choice that copied anything. Empty at first, and for some time after a change.
  std::vector<CopyCurve::Point> curve() const { return curve_.points(costs_); }

 private:
  struct Alternative {
    Miniature miniature;
    Tally tally{};
  };

  void decide(TimePoint now);
  const Alternative& best() const;
  const Alternative& current_or_best() const;

  const ChooserOptions options_;
  const std::uint64_t sample_mask_;
  Costs costs_;
  std::vector<Alternative> alternatives_;
  CopyCurve curve_;
  DirectMappedTable<std::uint32_t, Nanos, 1024> lives_;
  Choice choice_;
  std::optional<Choice> guess_;  // none: it is known better
  std::uint64_t reads_ = 0;      // since the last decision
  std::uint64_t interval_;       // reads between decisions: grows to interval_max_
  const bool began_by_guess_;
  const std::uint64_t interval_max_;
  SavingsInFact in_fact_;
  TimePoint decided_at_{};
  double seconds_ = 0;  // in which the tallies came, with the same loss
};

}  // namespace heatsink::admit
