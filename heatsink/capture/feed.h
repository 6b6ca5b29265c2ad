// SPDX-License-Identifier: Apache-2.0
// Captures commands live from an interface of this machine; needs CAP_NET_RAW and nothing else.
#pragma once

#include <cstdint>
#include <memory>

#include "heatsink/base/result.h"
#include "heatsink/capture/captured_command.h"
#include "heatsink/capture/counters.h"
#include "heatsink/capture/decoder.h"
#include "heatsink/capture/feed_options.h"

namespace heatsink::capture {

// Not thread-safe.
class CaptureFeed {
 public:
  static constexpr std::size_t kPortsMax = 64;
  static constexpr std::size_t kHostsMax = 64;
  static constexpr int kPacketsPerDrain = 4096;

  // Errors: kPermission (says which capability to give, and how), kNotFound (no such interface),
  // kInvalidArgument (ports, hosts), kUnavailable.
  static Result<std::unique_ptr<CaptureFeed>> open(const FeedOptions& options, OnCommand on_command,
                                                   const resp::CommandTable* table = nullptr);
  virtual ~CaptureFeed() = default;

  // Readable when packets wait: for an event loop to poll. Owned by the feed.
  virtual int fd() const = 0;

  // Takes what waits, at most kPacketsPerDrain packets: true if there may be more, so call again.
  // Never blocks. `now_ns`: since the epoch; call it at least every second, packets or not, so that
  // bytes that never came are given up. An error (the interface is gone) is final.
  virtual Result<bool> drain(std::int64_t now_ns) = 0;

  // Asks the kernel how many packets it has dropped: a system call.
  virtual CaptureCounters counters() = 0;
};

}  // namespace heatsink::capture
