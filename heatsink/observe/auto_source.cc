// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/auto_source.h"

#include <utility>

namespace heatsink::observe {

AutoSource::AutoSource(std::vector<std::unique_ptr<Source>> candidates)
    : candidates_(std::move(candidates)) {
  for (const auto& candidate : candidates_) {
    for (ServerProtocol* each : candidate->protocols()) protocols_.push_back(each);
  }
}

void AutoSource::tick(TimePoint now) {
  candidates_[at_]->tick(now);
  pass_over(now);
}

// A source may already have failed in its constructor, before it made a connection.
void AutoSource::pass_over(TimePoint now) {
  for (; at_ + 1 < candidates_.size(); ++at_) {
    const Observation seen = candidates_[at_]->observe(now);
    if (seen.state != SourceState::kFailed) return;
    passed_over_ += (passed_over_.empty() ? "not " : "; not ") + seen.facts.name + ": " + seen.note;
  }
}

void AutoSource::own_connection(const std::string& local) {
  for (const auto& candidate : candidates_) candidate->own_connection(local);
}

Observation AutoSource::observe(TimePoint now) {
  pass_over(now);
  Observation out = candidates_[at_]->observe(now);
  if (out.note.empty() || out.state == SourceState::kFailed)
    out.note += (out.note.empty() ? "" : "; ") + passed_over_;
  return out;
}

}  // namespace heatsink::observe
