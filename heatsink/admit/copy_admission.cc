// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/copy_admission.h"

namespace heatsink::admit {
AdmissionState::AdmissionState(std::size_t copies)
    : sightings_(copies * Choice::kHistoryMax),
      reads_(Choice{}.reads),
      history_(copies * Choice{}.history) {}

void AdmissionState::publish(std::uint32_t reads, std::uint64_t history,
                             std::uint64_t sample_mask) {
  reads_.store(reads, std::memory_order_relaxed);
  history_.store(history, std::memory_order_relaxed);
  sample_mask_.store(sample_mask, std::memory_order_relaxed);
}

}  // namespace heatsink::admit
