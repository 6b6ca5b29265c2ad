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

  // To be called about every second: more often, and the marks in between are dropped.
  void mark(const capture::CaptureCounters& counters, TimePoint now);

  // About how many commands of the window were not seen: of the packets that the kernel dropped as
  // many as a packet has on average, or by the bytes of requests that are missing in the streams or
  // could not be read, whichever is more. 0: none.
  double commands() const;

  // No more than so many, as if each packet that was dropped had been a request; what a request has
  // of commands, and a command of bytes, is the average of those that were seen. At least
  // commands().
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
