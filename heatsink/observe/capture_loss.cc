// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_loss.h"

#include <algorithm>

namespace heatsink::observe {
namespace {

constexpr Nanos kApart = Millis(500);

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void CaptureLoss::mark(const capture::CaptureCounters& counters, TimePoint now) {
  if (marks_.size() >= 2 && now - marks_[marks_.size() - 2].at < kApart) marks_.pop_back();
  marks_.push_back({now, counters});
  while (marks_.size() > 2 && marks_[1].at + window_ <= now) marks_.pop_front();
}

double CaptureLoss::commands() const {
  return marks_.empty() ? 0 : commands(marks_.back().counters.packets);
}

double CaptureLoss::commands_max() const {
  return marks_.empty() ? 0 : commands(marks_.back().counters.request_segments);
}

// Bytes per command and commands per request are averages over the whole capture: a window that
// lost nearly everything has too few commands for averages of its own.
double CaptureLoss::commands(std::uint64_t of_packets) const {
  const capture::CaptureCounters& from = marks_.front().counters;
  const capture::CaptureCounters& to = marks_.back().counters;
  const std::uint64_t dropped = to.dropped_by_kernel - from.dropped_by_kernel;
  const std::uint64_t bytes = to.request_bytes_lost - from.request_bytes_lost +
                              to.request_bytes_skipped - from.request_bytes_skipped;
  return std::max(static_cast<double>(dropped) * ratio(to.commands, of_packets),
                  static_cast<double>(bytes) * ratio(to.commands, to.request_bytes));
}

}  // namespace heatsink::observe
