// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/load_window.h"

namespace heatsink::copies {

void LoadWindow::note(TimePoint now, const CommandLoad& total, Nanos window) {
  if (!samples_.empty() && now - samples_.back().at < window / kSamplesPerWindow) return;
  samples_.push_back({now, total});
  while (samples_.size() > 1 && now - samples_[1].at >= window) samples_.pop_front();
}

LoadWindow::Span LoadWindow::over(TimePoint now, const CommandLoad& total, Nanos window) const {
  const Sample* from = nullptr;
  for (const Sample& sample : samples_)
    if (from == nullptr || now - sample.at >= window) from = &sample;
  if (from == nullptr) return {};
  return {total - from->total, now - from->at};
}

}  // namespace heatsink::copies
