// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_chooser.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "heatsink/copies/worker_copies.h"

namespace heatsink::copies {
namespace {

static_assert(admit::Costs::kReadsToPayMax <= cache::Copy::kReadsCounted);
static_assert(admit::Costs::kTogetherMax == WorkerCopies::kGatheredMax);

// What a hot key's copies have to save to be held, and less than what ends that: shares of the
// key's reads. Its writes may come in a worse order than at random, and the costs are estimates.
constexpr double kSavedToHold = 0.2;
constexpr double kSavedToStay = 0.1;

}  // namespace

CopyChooser::CopyChooser(const Options& options, admit::AdmissionState& state,
                         cache::HotTable& table)
    : options_(options),
      table_(table),
      chooser_({.copies_max = options.copies_max, .life = options.life, .costs = costs_.costs()},
               state) {
  table_.set_order(choice().order);
}

void CopyChooser::play(std::span<const admit::SampledAccess> accesses, TimePoint now) {
  const auto reads =
      std::count_if(accesses.begin(), accesses.end(),
                    [](const admit::SampledAccess& access) { return !access.is_write; });
  reads_ += static_cast<double>(reads) * static_cast<double>(chooser_.keys_per_sample());
  chooser_.play(accesses, held(), now);
  table_.set_order(choice().order);
}

// At once: the first traffic shows what the first guess could not know.
void CopyChooser::saw(const ServerWork& work) {
  costs_.saw(work);
  follow_costs();
}

void CopyChooser::follow_costs() {
  admit::Costs costs = costs_.costs();
  costs.reads_to_pay = admit::reads_to_pay(costs.of_fill(chooser_.fills_per_read()), costs.end);
  chooser_.set_costs(costs);
  table_.set_reads_to_pay(costs.reads_to_pay);
}

admit::Costs CopyChooser::costs() const {
  const admit::Costs costs = costs_.costs();
  return {.fill = costs.of_fill(chooser_.fills_per_read()), .end = costs.end};
}

bool CopyChooser::is_worth_holding(const detect::KeyCount& count, bool is_held) const {
  const double saved = admit::saved_when_held(
      static_cast<double>(count.reads), static_cast<double>(count.writes), costs_.held_costs());
  return saved >= (is_held ? kSavedToStay : kSavedToHold);
}

void CopyChooser::tick(TimePoint now) {
  const double seconds = std::chrono::duration<double>(now - ticked_at_).count();
  const double gathering = std::chrono::duration<double>(WorkerCopies::kGatherFor).count();
  // The first call does not know since when the reads have come.
  if (ticked_at_ != TimePoint{} && seconds > 0)
    costs_.set_reads_together(reads_ / seconds * gathering / static_cast<double>(options_.workers));
  reads_ = 0;
  ticked_at_ = now;
  costs_.tick();
  follow_costs();
  chooser_.tick(held(), SIZE_MAX);
}

admit::SizedChooser::Held CopyChooser::held() const {
  return {.copies = table_.size(),
          .evicted_for_bytes = table_.evictions(cache::EvictionReason::kBytes).count};
}

}  // namespace heatsink::copies
