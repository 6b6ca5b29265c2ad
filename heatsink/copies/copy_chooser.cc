// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_chooser.h"

#include <cstdint>

namespace heatsink::copies {
namespace {

static_assert(admit::Costs::kReadsToPayMax <= cache::Copy::kReadsCounted);

// What a hot key's copies have to save to be held, and less than what ends that: shares of the
// key's reads. Its writes may come in a worse order than at random, and the costs are estimates.
constexpr double kSavedToHold = 0.2;
constexpr double kSavedToStay = 0.1;

}  // namespace

CopyChooser::CopyChooser(const Options& options, admit::AdmissionState& state,
                         cache::HotTable& table)
    : table_(table),
      chooser_({.copies_max = options.copies_max, .life = options.life, .costs = costs_.costs()},
               state) {
  table_.set_order(choice().order);
}

void CopyChooser::play(std::span<const admit::SampledAccess> accesses, TimePoint now) {
  chooser_.play(accesses, held(), now);
  table_.set_order(choice().order);
}

// At once: the first traffic shows what the first guess could not know.
void CopyChooser::saw(const ServerWork& work) {
  costs_.saw(work);
  const admit::Costs costs = costs_.costs();
  chooser_.set_costs(costs);
  table_.set_reads_to_pay(costs.reads_to_pay);
}

bool CopyChooser::is_worth_holding(const detect::KeyCount& count, bool is_held) const {
  const double saved = admit::saved_when_held(static_cast<double>(count.reads),
                                              static_cast<double>(count.writes), costs_.costs());
  return saved >= (is_held ? kSavedToStay : kSavedToHold);
}

void CopyChooser::tick() {
  chooser_.tick(held(), SIZE_MAX);
  costs_.tick();
}

admit::SizedChooser::Held CopyChooser::held() const {
  return {.copies = table_.size(),
          .evicted_for_bytes = table_.evictions(cache::EvictionReason::kBytes).count};
}

}  // namespace heatsink::copies
