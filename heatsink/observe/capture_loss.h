// SPDX-License-Identifier: Apache-2.0
// Estimates how much of the latest traffic a capture has missed.
#pragma once

#include <deque>

#include "heatsink/base/clock.h"
#include "heatsink/capture/capture.h"

namespace heatsink::observe {

// Remembers the counters of the last `window`. One thread.
class CaptureLoss {
 public:
  explicit CaptureLoss(Nanos window) : window_(window) {}

  // Call it about once a second. Marks that follow each other faster are dropped.
  void mark(const capture::CaptureCounters& counters, TimePoint now);

  // Estimates how many commands of the window the capture missed; 0: none. Two estimates, of which
  // the greater counts: the packets that the kernel dropped, at the average commands per packet;
  // and the request bytes that are missing or unreadable, at the average bytes per command.
  double commands() const;

  // An upper bound of the same, at least commands(): each dropped packet counts as a request.
  // Commands per request and bytes per command are the averages of the commands that were seen.
  double commands_max() const;

 private:
  double commands(std::uint64_t of_packets) const;

  struct Mark {
    TimePoint at;
    capture::CaptureCounters counters;
  };
  Nanos window_;
  std::deque<Mark> marks_;
};

}  // namespace heatsink::observe
