// SPDX-License-Identifier: Apache-2.0
// Commands as they pass, live: an interface of this machine, watched with CAP_NET_RAW alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"
#include "heatsink/capture/captured_command.h"
#include "heatsink/capture/counters.h"
#include "heatsink/capture/decoder.h"

namespace heatsink::capture {

struct FeedOptions {
  std::string interface = "any";              // "eth0", "lo"; "any": all of them
  std::vector<std::uint16_t> ports = {6379};  // of the servers; at least one, at most kPortsMax
  // Numeric addresses of the servers, at most kHostsMax; empty: any server with these ports.
  std::vector<std::string> hosts;
  Bytes kernel_buffer = mebibytes(32);  // what waits in the kernel between two drain()s
  // A second; while there are more, those of a part of the connections are watched, by turns
  // (reply_pace.h), because the kernel copies a packet at the cost of whoever sends it. Infinity:
  // all are watched. Requests always are.
  double replies_max = 10'000;
  // The servers are this machine's own, so that no request goes out but over loopback.
  bool servers_are_here = false;
  // Once the socket is open: no capability is left, and root becomes the user who called sudo (or
  // nobody). Concerns the calling thread's capabilities: open before other threads are started.
  bool drop_privileges = true;
};

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
