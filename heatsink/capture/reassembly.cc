// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/reassembly.h"

#include <algorithm>
#include <utility>

#include "heatsink/capture/packet_numbers.h"

namespace heatsink::capture {
namespace {

// A segment further away than any window belongs to another connection. Linux's largest windows are
// a few MiB (tcp_rmem, tcp_wmem).
constexpr std::int32_t kNearBytes = 64 << 20;
constexpr std::int32_t kLateBytes = 1 << 20;  // bytes that may be read before a late SYN

}  // namespace

bool Reassembly::take(Side side, const Segment& segment, std::int64_t at_ns, StreamSink& sink) {
  if (segment.syn && !take_syn(side, segment)) return false;
  if (!is_near(side, segment)) return false;
  if (is_closed()) return true;
  learn(side, segment);
  if (server_ != Watch::kYes) place_server(side, segment);
  const Piece piece{side,
                    segment.has_ack,
                    segment.seq,
                    segment.ack,
                    static_cast<std::uint32_t>(segment.payload.size()),
                    segment.cut_bytes,
                    at_ns};
  const bool is_passed_over = side == Side::kServer && server_ == Watch::kNo;
  if (piece.size + piece.cut_bytes > 0 && !is_passed_over) {
    const Delivery now = delivery_of(piece);
    if (now == Delivery::kNow) hand_on(piece, segment.payload, sink);
    if (now == Delivery::kNever) ++counters_.segments_again;
    if (now == Delivery::kLater) {
      ++counters_.segments_out_of_order;
      held_bytes_ += piece.size;
      held_.push_back({piece, std::string(segment.payload)});
    }
  }
  if (!held_.empty()) {
    hand_on_held(sink);
    advance(at_ns, sink);
  }
  if (segment.rst) {
    flush(sink);
    is_reset_ = true;
  }
  return true;
}

bool Reassembly::is_closed() const {
  const auto is_ended = [](const Half& half) {
    return half.has_end && distance(half.next, half.end) >= 0;
  };
  return is_reset_ || (is_ended(halves_[0]) && is_ended(halves_[1]));
}

// A retransmitted SYN has the same number. A SYN with another number begins a new connection.
bool Reassembly::take_syn(Side side, const Segment& segment) {
  Half& own = half(side);
  if (own.has_beginning) return own.begin == segment.seq;
  // The SYN comes after the first bytes, which were read as on a joined connection.
  const std::int32_t late = own.is_known ? distance(own.next, segment.seq) : 0;
  if (late < 0 || late > kLateBytes) return false;
  own.has_beginning = true;
  own.begin = segment.seq;
  if (!own.is_known) {
    own.is_known = true;
    own.next = segment.seq;
  }
  return true;
}

bool Reassembly::is_near(Side side, const Segment& segment) const {
  const Half& own = half(side);
  const bool is_unwatched = side == Side::kServer && server_ != Watch::kYes;
  if (!own.is_known || segment.syn || is_unwatched) return true;
  const std::int32_t away = distance(segment.seq, own.next);
  return away > -kNearBytes && away < kNearBytes;
}

// Learns the state of both directions from the header. If the capture lacks the beginning of the
// other direction, only an acknowledgement tells how far it has come.
void Reassembly::learn(Side side, const Segment& segment) {
  Half& own = half(side);
  Half& peer = half(other(side));
  if (!own.is_known) {
    own.is_known = true;
    own.next = segment.seq;
  }
  if (segment.has_ack) {
    if (!peer.is_known) {
      peer.is_known = true;
      peer.next = segment.ack;
    }
    if (!peer.is_acked || distance(segment.ack, peer.acked) > 0) peer.acked = segment.ack;
    peer.is_acked = true;
  }
  if (segment.fin) {
    own.has_end = true;
    own.end = segment.seq + static_cast<std::uint32_t>(segment.payload.size()) + segment.cut_bytes;
  }
}

// Unwatched bytes count as delivered, as far as the client has acknowledged them or the server's
// own segments reach. The first watched segment starts the stream again, unless it is a
// retransmission.
void Reassembly::place_server(Side side, const Segment& segment) {
  Half& server = half(Side::kServer);
  std::uint32_t reached = segment.ack;
  if (side == Side::kServer) {
    const std::size_t size = segment.payload.size() + segment.cut_bytes;
    const bool begins =
        server_ == Watch::kFromNextOn && size > 0 && distance(segment.seq, server.next) >= 0;
    if (begins) server_ = Watch::kYes;
    reached = segment.seq + static_cast<std::uint32_t>(begins ? 0 : size);
  } else if (!segment.has_ack) {
    return;
  }
  if (distance(reached, server.next) > 0) server.next = reached;
}

void Reassembly::watch_server(bool is_watched, StreamSink& sink) {
  server_ = is_watched ? Watch::kFromNextOn : Watch::kNo;
  if (is_watched) return;
  std::erase_if(held_, [this](const Held& held) {
    if (held.piece.side != Side::kServer) return false;
    held_bytes_ -= held.bytes.size();
    return true;
  });
  hand_on_held(sink);
}

Reassembly::Delivery Reassembly::delivery_of(const Piece& piece) const {
  const Half& own = half(piece.side);
  if (distance(piece.seq + piece.size + piece.cut_bytes, own.next) <= 0) return Delivery::kNever;
  if (distance(piece.seq, own.next) > 0) return Delivery::kLater;
  return is_ahead_of_its_cause(piece) ? Delivery::kLater : Delivery::kNow;
}

// True if the segment acknowledges bytes of the other side that are not delivered yet; a FIN counts
// as one byte. Delivering it first could put a reply before its request.
bool Reassembly::is_ahead_of_its_cause(const Piece& piece) const {
  const Half& peer = half(other(piece.side));
  const bool is_seen = piece.side == Side::kServer || server_ == Watch::kYes;
  if (!piece.has_ack || !peer.is_known || !is_seen) return false;
  const std::int32_t ahead = distance(piece.ack, peer.next);
  if (ahead <= 0 || ahead >= kNearBytes) return false;
  const bool only_the_end = peer.has_end && peer.next == peer.end && ahead == 1;
  return !only_the_end;
}

// REQUIRES delivery_of(piece) == kNow.
void Reassembly::hand_on(const Piece& piece, std::string_view bytes, StreamSink& sink) {
  Half& own = half(piece.side);
  const Half& peer = half(other(piece.side));
  // bytes delivered before
  const auto seen = static_cast<std::size_t>(distance(own.next, piece.seq));
  const std::size_t passed = std::min(seen, bytes.size());
  if (passed < bytes.size()) {
    own.next = piece.seq + piece.size;
    Arrival arrival;
    arrival.side = piece.side;
    arrival.at_ns = piece.at_ns;
    arrival.seq = piece.seq + static_cast<std::uint32_t>(passed);
    arrival.ack = piece.ack;
    arrival.heard = peer.next;
    arrival.ack_known = piece.has_ack && peer.is_known;
    arrival.bytes = bytes.substr(passed);
    sink.take(arrival);
  }
  if (piece.cut_bytes > 0) skip_to(piece.side, piece.seq + piece.size + piece.cut_bytes, sink);
}

// Each delivery may unblock older segments, so the search starts again at the oldest one.
void Reassembly::hand_on_held(StreamSink& sink) {
  for (std::size_t i = 0; i < held_.size();) {
    const Delivery now = delivery_of(held_[i].piece);
    if (now == Delivery::kLater) {
      ++i;
      continue;
    }
    const Held held = std::move(held_[i]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    held_bytes_ -= held.bytes.size();
    if (now == Delivery::kNow) hand_on(held.piece, held.bytes, sink);
    if (now == Delivery::kNever) ++counters_.segments_again;
    i = 0;
  }
  if (held_.empty()) std::vector<Held>().swap(held_);
}

void Reassembly::advance(std::int64_t now_ns, StreamSink& sink) {
  while (!held_.empty() && is_due(now_ns)) give_up_oldest(sink);
}

void Reassembly::flush(StreamSink& sink) {
  while (!held_.empty()) give_up_oldest(sink);
}

bool Reassembly::is_due(std::int64_t now_ns) const {
  if (held_.size() > kHeldMax || held_bytes_ > kHeldBytesMax) return true;
  const Piece& oldest = held_.front().piece;
  const Nanos waited(now_ns - oldest.at_ns);
  if (waited >= patience_.in_doubt) return true;
  const bool lacks_own = distance(oldest.seq, half(oldest.side).next) > 0;
  const Half& lacking = half(lacks_own ? oldest.side : other(oldest.side));
  const bool acknowledged = lacking.is_acked && distance(lacking.acked, lacking.next) > 0;
  return acknowledged && waited >= patience_.acknowledged;
}

// Skips the bytes that the oldest segment waits for. If they are missing in its own direction,
// skips to the first segment held there. Otherwise they are missing in the other direction; what is
// held there may itself wait for the first one. Each call advances one direction, so that repeated
// calls terminate.
void Reassembly::give_up_oldest(StreamSink& sink) {
  const Piece oldest = held_.front().piece;
  const Piece first = first_held(oldest.side, oldest);
  if (distance(first.seq, half(first.side).next) > 0) {
    skip_to(first.side, first.seq, sink);
  } else {
    Piece cause = first;
    cause.seq = first.ack;
    skip_to(other(first.side), first_held(other(first.side), cause).seq, sink);
  }
  hand_on_held(sink);
}

// The earliest held segment of this side, if it stands before `otherwise`. Segments of the other
// direction that start where the stream already is do not count.
const Reassembly::Piece& Reassembly::first_held(Side side, const Piece& otherwise) const {
  const Piece* first = &otherwise;
  for (const Held& held : held_) {
    const bool reached = side != otherwise.side && distance(held.piece.seq, half(side).next) <= 0;
    if (held.piece.side == side && !reached && distance(held.piece.seq, first->seq) < 0)
      first = &held.piece;
  }
  return *first;
}

void Reassembly::skip_to(Side side, std::uint32_t seq, StreamSink& sink) {
  Half& own = half(side);
  const std::int32_t missing = distance(seq, own.next);
  if (missing <= 0) return;
  own.next = seq;
  ++counters_.gaps;
  counters_.bytes_lost += static_cast<std::uint64_t>(missing);
  sink.lose(side, static_cast<std::uint64_t>(missing));
}

}  // namespace heatsink::capture
