// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/auto_source.h"

#include <utility>

namespace heatsink::observe {

AutoSource::AutoSource(std::vector<std::unique_ptr<Source>> candidates)
    : candidates_(std::move(candidates)) {
  for (const auto& candidate : candidates_) {
    for (Conversation* each : candidate->conversations()) conversations_.push_back(each);
  }
}

void AutoSource::tick(TimePoint now) {
  candidates_[at_]->tick(now);
  if (at_ + 1 == candidates_.size()) return;
  const Observation seen = candidates_[at_]->observe(now);
  if (seen.state != SourceState::kFailed) return;
  passed_over_ += (passed_over_.empty() ? "not " : "; not ") + seen.facts.name + ": " + seen.note;
  ++at_;
}

Observation AutoSource::observe(TimePoint now) {
  Observation out = candidates_[at_]->observe(now);
  if (out.note.empty() || out.state == SourceState::kFailed)
    out.note += (out.note.empty() ? "" : "; ") + passed_over_;
  return out;
}

}  // namespace heatsink::observe
