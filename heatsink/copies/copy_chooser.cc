// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_chooser.h"

#include <cstdint>

namespace heatsink::copies {

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

void CopyChooser::tick() {
  chooser_.tick(held(), costs_.costs(), SIZE_MAX);
  costs_.tick();
}

admit::SizedChooser::Held CopyChooser::held() const {
  return {.copies = table_.size(),
          .evicted_for_bytes = table_.evictions(cache::EvictionReason::kBytes).count};
}

}  // namespace heatsink::copies
