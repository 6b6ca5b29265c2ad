// SPDX-License-Identifier: Apache-2.0
// Turns packets into commands; the same for a file and for a live capture.
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
  // The servers' ports. Empty: any connection whose client begins a message with a known command.
  std::vector<std::uint16_t> ports;
  std::uint32_t connections_max = 16'384;  // past it the one longest idle is forgotten
  Bytes memory_max = mebibytes(256);       // of bytes that wait; past it likewise
  // Bytes that are missing are given up once those behind them have waited so long; sooner when the
  // other side has acknowledged them (then it is the capture that lacks them).
  Nanos patience = std::chrono::seconds(2);
  Nanos patience_acknowledged = Millis(100);
  Nanos idle_max = std::chrono::minutes(10);  // then a connection is forgotten
  std::uint64_t seed = 0;  // of the hash of connections; random where the traffic is not trusted
};

// Not thread-safe. Deterministic: the packets and the options decide everything, and time is the
// packets' own. Memory: connections_max * about 1 KiB and memory_max, whatever the packets hold.
// O(bytes) per packet, but for what waits in a connection: at most 256 segments.
class Decoder {
 public:
  // `table` (null: the built-in one) is copied; a copy shares its content.
  Decoder(const DecoderOptions& options, OnCommand on_command,
          const resp::CommandTable* table = nullptr);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // Calls back for each command that is now complete: in the order of each connection, with its
  // reply where that can be told, when that has come.
  void packet(const Packet& packet);

  // Of the packets from `from_ns` on, the replies are only those of the connections that `watch`
  // covers: the others' are not missing, and their commands are told at once, without replies. At
  // first all are covered. Where replies come to be watched, they are told as on a connection
  // joined then. To change what is watched, the packets of both say what they have in common,
  //   watch(before.common(after), t0)  ... the change ...  watch(after, t1)
  // where t0 is before the change and t1 behind it. Until it has come to `from_ns` nothing changes.
  void watch(ReplyWatch watch, std::int64_t from_ns);

  // Time goes on without packets: gives up and forgets what has waited for too long. Packets do so
  // by themselves.
  void advance(std::int64_t now_ns);

  // The end: hands out what waits, and forgets all connections.
  void finish();

  const CaptureCounters& counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace heatsink::capture
