// SPDX-License-Identifier: Apache-2.0
// Captures commands live from an interface of this machine; needs only CAP_NET_RAW.
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

  // Errors: kPermission (the message names the missing capability and how to give it), kNotFound
  // (no such interface), kInvalidArgument (ports, hosts), kUnavailable.
  static Result<std::unique_ptr<CaptureFeed>> open(const FeedOptions& options, OnCommand on_command,
                                                   const resp::CommandTable* table = nullptr);
  virtual ~CaptureFeed() = default;

  // Readable when packets wait, for an event loop. The feed owns it.
  virtual int fd() const = 0;

  // Reads the waiting packets, at most kPacketsPerDrain; true if there may be more. Never blocks.
  // `now_ns`: since the epoch. Call it at least every second, even without packets, so that missing
  // bytes are given up. An error (the interface is gone) is final.
  virtual Result<bool> drain(std::int64_t now_ns) = 0;

  // The counters, with the kernel's count of dropped packets: makes a system call.
  virtual CaptureCounters counters() = 0;
};

}  // namespace heatsink::capture
