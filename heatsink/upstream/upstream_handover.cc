// SPDX-License-Identifier: Apache-2.0
// Gives a private connection to another process, and takes one over.
#include <utility>

#include "heatsink/upstream/connection_owner.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

bool Upstream::may_release(std::size_t waiting) {
  const bool is_between = !begun_ && head_.empty() && !holds_back_ && !db_refused_;
  const bool has_sent_all = output_.empty() && raw_request_.empty() && db_ != kUnknownDb;
  const bool is_next = waiting == 0 || (pending_.size() == waiting &&
                                        pending_.front().kind == PendingKind::kWaiting);
  return state_ == State::kReady && owner_ != nullptr && !paused_ && socket_.is_plain() &&
         is_between && has_sent_all && pending_.size() == waiting && is_next;
}

net::Stream Upstream::release_stream() {
  const TimePoint now = loop_.clock();
  // A command that still waits has shown nothing here; its writes in flight end in this process.
  while (!pending_.empty()) {
    Pending pending = pending_.pop_front();
    host_.settle(pending, now, copies::Shown::kNothing);
  }
  loop_.remove(socket_.fd());
  state_ = State::kFailed;
  return std::exchange(socket_, {});
}

Status Upstream::take_over(net::Stream stream, std::uint32_t db, bool knows_hello) {
  socket_ = std::move(stream);
  if (Status added = loop_.add(socket_.fd(), net::Interest::kRead, *this); !added.ok()) {
    socket_.close();
    state_ = State::kFailed;
    return added;
  }
  accepted_ = was_ready_ = true;
  state_ = State::kReady;
  db_ = db;
  if (knows_hello) hello_reply_ = "+OK\r\n";  // its content matters on shared connections only
  return Unit{};
}

void Upstream::expect(Pending&& pending) {
  pending.sent_at = loop_.now();
  if (pending_.empty()) timeouts_.command_sent(pending.sent_at);
  pending_.push_back(std::move(pending));
}

}  // namespace heatsink::proxy
