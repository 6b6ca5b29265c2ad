// SPDX-License-Identifier: Apache-2.0
// Inside capture: both directions of a TCP connection as streams of bytes, in the order in which
// they caused each other.
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

enum class Side : std::uint8_t { kClient, kServer };  // who sends
inline Side other(Side side) { return side == Side::kClient ? Side::kServer : Side::kClient; }

// Bytes of one side, directly behind those before (or behind a gap).
struct Arrival {
  Side side = Side::kClient;
  std::int64_t at_ns = 0;
  std::uint32_t seq = 0;    // of the first byte
  std::uint32_t ack = 0;    // how far the sender had received the other side then
  std::uint32_t heard = 0;  // how far the other side has been handed on
  bool ack_known = false;   // both are
  std::string_view bytes;   // live as long as the call
};

class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void take(const Arrival& arrival) = 0;
  virtual void lose(Side side, std::uint64_t bytes) = 0;  // a gap before what comes next
};

struct Patience {
  Nanos in_doubt{};      // until missing bytes are given up
  Nanos acknowledged{};  // likewise when the other side has acknowledged them
};

// One per connection; not thread-safe. A segment is handed on when all bytes before it have been,
// in its own direction *and* in the other one as far as it acknowledges them: so a reply never
// comes before its request, even where a capture has mixed up the two directions. Segments that
// must wait are copied, at most kHeldMax of kHeldBytesMax together; past that, and past the
// patience, the missing bytes are given up. What has come before is passed over.
class Reassembly {
 public:
  static constexpr std::size_t kHeldMax = 256;
  static constexpr std::size_t kHeldBytesMax = 512 * 1024;

  Reassembly(const Patience& patience, CaptureCounters& counters)
      : patience_(patience), counters_(counters) {}

  // False: this segment belongs to another connection between the same ports, before or after this
  // one; it was not taken.
  bool take(Side side, const Segment& segment, std::int64_t at_ns, StreamSink& sink);

  // From now on the server's segments are missing, all but those that begin or end the connection,
  // and are passed over; or they are there again, from one that comes from now on. (At first they
  // are there.) What waits for them is handed on.
  void watch_server(bool is_watched, StreamSink& sink);

  // Gives up what has waited for too long.
  void advance(std::int64_t now_ns, StreamSink& sink);
  // Hands on all that waits, with gaps.
  void flush(StreamSink& sink);

  // By a FIN of each side, or a reset.
  bool is_closed() const;
  bool waits() const { return !held_.empty(); }
  // The memory of what waits: for whoever limits it in all.
  std::size_t held_bytes() const { return held_bytes_ + held_.capacity() * sizeof(Held); }
  // The beginning of this side's stream was seen.
  bool has_beginning(Side side) const { return half(side).has_beginning; }

 private:
  struct Half {
    std::uint32_t next = 0;   // the first byte that was not handed on
    std::uint32_t begin = 0;  // if has_beginning
    std::uint32_t acked = 0;  // what the other side has received, if is_acked
    std::uint32_t end = 0;    // behind the last byte, if has_end
    bool is_known = false;    // `next` is
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
    std::uint32_t cut_bytes;  // behind the `size`
    std::int64_t at_ns;
  };
  struct Held {
    Piece piece;
    std::string bytes;
  };
  enum class Delivery { kNow, kLater, kNever };
  enum class Watch : std::uint8_t {
    kYes,
    kFromNextOn,  // none has come since it is watched
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
  std::vector<Held> held_;  // in the order in which they came
};

}  // namespace heatsink::capture
