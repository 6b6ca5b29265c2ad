// SPDX-License-Identifier: Apache-2.0
// Turns summaries into verdicts: which keys are hot, since when, and why.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "heatsink/detect/selector_options.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/verdict.h"

namespace heatsink::detect {

// Stateful, one thread; time comes with the summaries. A key is announced once, then on change.
// A verdict is never wrong by the error bound: it takes rate_low to promote and rate_high to
// demote. At most top_n keys are hot and keys_max known; the places of the hot are taken over only
// by clearly busier keys (by 1 / demote_ratio). update() is O(listed keys), without allocation for
// keys that were known, and may be called as often as one likes (docs/design/detect.md has the
// figures). The same summaries give the same changes, in the same order.
class Selector {
 public:
  explicit Selector(const SelectorOptions& options);
  ~Selector();
  Selector(Selector&&) noexcept;

  // Looks at the merged windows, one for each of rules.measures(), in that order; returns what
  // changed: those that got cold, then the others, hottest first. A key is judged by its own rule
  // on the summary of that rule's measure, and is cold if that does not list it; a hot one only
  // when absent_max proves that it fell below its threshold.
  std::vector<Change> update(std::span<const Summary> merged);
  std::vector<Change> update(const Summary& merged);  // for rules of one measure

  // Hot, write-hot and warm keys, hottest first, as of the last update.
  const std::vector<Verdict>& verdicts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heatsink::detect
