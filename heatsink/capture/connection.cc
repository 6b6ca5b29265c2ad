// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/connection.h"

#include <algorithm>

namespace heatsink::capture {

bool Connection::take(const Segment& segment, std::int64_t at_ns) {
  const Side side = segment.from == client_ ? Side::kClient : Side::kServer;
  if (!reassembly_.take(side, segment, at_ns, *this)) return false;
  last_ns_ = std::max(last_ns_, at_ns);
  if (is_closed() || (matcher_ && matcher_->is_dead())) finish();
  return true;
}

void Connection::finish() {
  reassembly_.flush(*this);
  if (matcher_) matcher_->finish();
  matcher_.reset();
  is_over_ = true;
}

void Connection::watch(ReplyWatch watch) {
  const bool is_watched = watch.covers(client_.port);
  if (is_watched == (replies_ != Replies::kNone)) return;
  replies_ = is_watched ? Replies::kFromNowOn : Replies::kNone;
  if (matcher_) matcher_->watch(is_watched);
  reassembly_.watch_server(is_watched, *this);
}

std::size_t Connection::bytes() const {
  return reassembly_.held_bytes() + (matcher_ ? matcher_->bytes() : 0);
}

void Connection::take(const Arrival& arrival) {
  if (ReplyMatcher* const found = matcher()) found->take(arrival);
}

void Connection::lose(Side side, std::uint64_t bytes) {
  if (ReplyMatcher* const found = matcher()) found->lose(side, bytes);
}

// Creates the matcher on the first payload: only then is it certain whether the capture has seen
// the beginning of the connection.
ReplyMatcher* Connection::matcher() {
  if (is_over_ || matcher_) return matcher_.get();
  const bool whole =
      reassembly_.has_beginning(Side::kClient) || reassembly_.has_beginning(Side::kServer);
  if (!whole) ++context_.counters.connections_joined;
  matcher_ = std::make_unique<ReplyMatcher>(context_, client_, server_, whole, strict_, replies_);
  return matcher_.get();
}

}  // namespace heatsink::capture
