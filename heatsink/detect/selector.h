// SPDX-License-Identifier: Apache-2.0
// Turns summaries into verdicts: which keys are hot, since when, and why.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heatsink/detect/fleet_window.h"
#include "heatsink/detect/selector_options.h"
#include "heatsink/detect/summary.h"
#include "heatsink/detect/verdict.h"

namespace heatsink::detect {

// Stateful; one thread; time comes with the summaries. It announces each key once, then each
// change. The error bound never makes a verdict wrong: a promotion needs rate_low, a demotion
// rate_high. At most top_n keys are hot and keys_max known. Only a clearly busier key (by 1 /
// demote_ratio) displaces a hot one. update() is O(listed keys), does not allocate for known keys,
// and may be called at any frequency (figures in docs/design/detect.md). The same summaries give
// the same changes, in the same order.
class Selector {
 public:
  explicit Selector(const SelectorOptions& options);
  ~Selector();
  Selector(Selector&&) noexcept;

  // Takes the merged windows, one for each of rules.measures(), in that order. Returns the changes:
  // first keys that became cold, then the others, hottest first. A key is classified by its rule on
  // the summary of that rule's measure. If the summary does not list it, the key is cold; a hot key
  // only if absent_max proves that it fell below its threshold.
  // `fleet`: what several instances have counted, for the same measures in the same order; or
  // nothing. Its keys are judged by it, too, and known here even if nothing was counted here.
  std::vector<Change> update(std::span<const Summary> merged,
                             std::span<const FleetWindow> fleet = {});
  std::vector<Change> update(const Summary& merged);  // for rules of one measure

  // Other options from the next update on, whose summaries are those of the new rules' measures.
  // Known keys keep their temperature, and since when they have it; what the counts of their
  // measures show under the new rules decides from then on. Forgets what it knows of cold keys: a
  // burst that is under way is noticed a little later.
  void reconfigure(const SelectorOptions& options);

  // Hot, write-hot and warm keys, hottest first, as of the last update.
  const std::vector<Verdict>& verdicts() const;
  // The reason of one of them by the figures of the last update, to stand beside them:
  // Verdict::reason has those of the moment when it got its temperature. Costs a sentence.
  std::string reason_now(const Verdict& verdict) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The highest possible accesses per second of a key that is missing in `shown`, from `node`, the
// window of all keys: the key is counted but cold, or not tracked. Nothing if the window counts
// something other than requests, or has not begun. O((keys + shown) x log shown).
std::optional<double> absent_max(const Summary& node, const std::vector<Verdict>& shown);

}  // namespace heatsink::detect
