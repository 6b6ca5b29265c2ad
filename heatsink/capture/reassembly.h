// SPDX-License-Identifier: Apache-2.0
// Inside capture: turns the segments of a TCP connection into two byte streams, in causal order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/capture/counters.h"
#include "heatsink/capture/segment.h"

namespace heatsink::capture {

enum class Side : std::uint8_t { kClient, kServer };  // the sender
inline Side other(Side side) { return side == Side::kClient ? Side::kServer : Side::kClient; }

// Bytes of one side that follow directly on the bytes before (or on a gap).
struct Arrival {
  Side side = Side::kClient;
  std::int64_t at_ns = 0;
  std::uint32_t seq = 0;    // of the first byte
  std::uint32_t ack = 0;    // how much of the other side the sender had received
  std::uint32_t heard = 0;  // how much of the other side has been delivered
  bool ack_known = false;   // `ack` and `heard` are known
  std::string_view bytes;   // valid during the call
};

class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void take(const Arrival& arrival) = 0;
  virtual void lose(Side side, std::uint64_t bytes) = 0;  // a gap before the next bytes
};

struct Patience {
  Nanos in_doubt{};      // time after which missing bytes are given up
  Nanos acknowledged{};  // the same, if the other side has acknowledged them
};

// One per connection; not thread-safe. A segment is delivered when all earlier bytes of its own
// direction have been, *and* all bytes of the other direction that it acknowledges. So a reply
// never comes before its request, even if a capture has mixed up the directions. Waiting segments
// are copied: at most kHeldMax of together kHeldBytesMax. Beyond these limits or the patience, the
// missing bytes are given up. Bytes before the delivered position are ignored.
class Reassembly {
 public:
  static constexpr std::size_t kHeldMax = 256;
  static constexpr std::size_t kHeldBytesMax = 512 * 1024;

  Reassembly(const Patience& patience, CaptureCounters& counters)
      : patience_(patience), counters_(counters) {}

  // False: the segment belongs to an earlier or later connection between the same ports, and was
  // not taken.
  bool take(Side side, const Segment& segment, std::int64_t at_ns, StreamSink& sink);

  // Without watching, the capture lacks the server's segments, except those that begin or end the
  // connection; they are skipped. With watching, they are taken again, from the next one on.
  // Initially they are watched. Delivers the segments that waited for unwatched ones.
  void watch_server(bool is_watched, StreamSink& sink);

  // Gives up bytes that were awaited too long.
  void advance(std::int64_t now_ns, StreamSink& sink);
  // Delivers all held segments, with gaps.
  void flush(StreamSink& sink);

  // Both sides have sent a FIN, or one has sent a reset.
  bool is_closed() const;
  bool waits() const { return !held_.empty(); }
  // Memory of held segments, for a limit over all connections.
  std::size_t held_bytes() const { return held_bytes_ + held_.capacity() * sizeof(Held); }
  // The capture has the beginning of this side's stream.
  bool has_beginning(Side side) const { return half(side).has_beginning; }

 private:
  struct Half {
    std::uint32_t next = 0;   // the first byte that is not delivered
    std::uint32_t begin = 0;  // if has_beginning
    std::uint32_t acked = 0;  // received by the other side, if is_acked
    std::uint32_t end = 0;    // after the last byte, if has_end
    bool is_known = false;    // `next` is known
    bool is_acked = false;
    bool has_beginning = false;
    bool has_end = false;
  };
  struct Piece {
    Side side;
    bool has_ack;
    std::uint32_t seq;
    std::uint32_t ack;
    std::uint32_t size;
    std::uint32_t cut_bytes;  // bytes that the capture cut off after `size`
    std::int64_t at_ns;
  };
  struct Held {
    Piece piece;
    std::string bytes;
  };
  enum class Delivery { kNow, kLater, kNever };
  enum class Watch : std::uint8_t {
    kYes,
    kFromNextOn,  // watched, but no segment has come yet
    kNo,
  };

  Half& half(Side side) { return halves_[static_cast<std::size_t>(side)]; }
  const Half& half(Side side) const { return halves_[static_cast<std::size_t>(side)]; }
  bool take_syn(Side side, const Segment& segment);
  bool is_near(Side side, const Segment& segment) const;
  void learn(Side side, const Segment& segment);
  void place_server(Side side, const Segment& segment);
  Delivery delivery_of(const Piece& piece) const;
  bool is_ahead_of_its_cause(const Piece& piece) const;
  void hand_on(const Piece& piece, std::string_view bytes, StreamSink& sink);
  void hand_on_held(StreamSink& sink);
  bool is_due(std::int64_t now_ns) const;
  void give_up_oldest(StreamSink& sink);
  const Piece& first_held(Side side, const Piece& otherwise) const;
  void skip_to(Side side, std::uint32_t seq, StreamSink& sink);

  Patience patience_;
  CaptureCounters& counters_;
  std::array<Half, 2> halves_;
  Watch server_ = Watch::kYes;
  bool is_reset_ = false;
  std::size_t held_bytes_ = 0;
  std::vector<Held> held_;  // by time of arrival
};

}  // namespace heatsink::capture
