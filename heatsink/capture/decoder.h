// SPDX-License-Identifier: Apache-2.0
// Turns packets into commands, in the same way for a file and for a live capture.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heatsink/base/units.h"
#include "heatsink/capture/captured_command.h"
#include "heatsink/capture/counters.h"
#include "heatsink/capture/packet.h"
#include "heatsink/capture/reply_watch.h"

namespace heatsink::capture {

struct DecoderOptions {
  // The servers' ports. Empty: all ports; a connection counts if its client begins with a known
  // command.
  std::vector<std::uint16_t> ports;
  std::uint32_t connections_max = 16'384;  // beyond it, the connection idle for longest is dropped
  // for held bytes; beyond it, the connection idle for longest is dropped
  Bytes memory_max = mebibytes(256);
  // The decoder gives up missing bytes when later bytes have waited this long. If the receiver has
  // acknowledged them (so only the capture lacks them), it waits patience_acknowledged.
  Nanos patience = std::chrono::seconds(2);
  Nanos patience_acknowledged = Millis(100);
  Nanos idle_max = std::chrono::minutes(10);  // then the connection is dropped
  std::uint64_t seed = 0;  // for the hash of connections; use a random one for untrusted traffic
};

// Not thread-safe. Deterministic: the result depends only on the packets, with their timestamps,
// and the options. Memory: connections_max * about 1 KiB, plus memory_max, whatever the packets
// contain. O(bytes) per packet, except for held segments: at most 256 per connection.
class Decoder {
 public:
  // Copies `table` (null: the built-in one); copies share their content.
  Decoder(const DecoderOptions& options, OnCommand on_command,
          const resp::CommandTable* table = nullptr);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // Calls back for each command that is now complete, in the order of its connection. A command
  // whose reply can be matched is reported when the reply has come.
  void packet(const Packet& packet);

  // From the packets at `from_ns` on, only connections covered by `watch` have replies. The replies
  // of the others do not count as missing; their commands are reported at once, without replies.
  // Initially all connections are covered. A connection that becomes covered is treated like one
  // joined at that time. While the kernel's filter changes, only connections covered before and
  // after have all replies, so call
  //   watch(before.common(after), t0)  ... the change ...  watch(after, t1)
  // with t0 before the change and t1 after it. Nothing changes until the packets reach `from_ns`.
  void watch(ReplyWatch watch, std::int64_t from_ns);

  // Tells the decoder the time when there are no packets, so that it gives up what was awaited too
  // long. Packets do this by their timestamps.
  void advance(std::int64_t now_ns);

  // The end of the capture: reports all waiting commands and drops all connections.
  void finish();

  const CaptureCounters& counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatsink::capture
