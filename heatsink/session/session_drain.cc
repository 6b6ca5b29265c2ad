// SPDX-License-Identifier: Apache-2.0
// Ends a session while its proxy drains: what the client has begun ends, then its connection is
// half closed, so that no reply is lost by a reset.
#include "heatsink/session/session.h"

namespace heatsink::proxy {

Stay Session::stays() const {
  if (leaves_) return Stay::kClosing;
  if (is_blocked()) return Stay::kWait;
  if (in_multi_ || watching_) return Stay::kTransaction;
  const bool is_owed = !is_answered() || traffic_.holds > 0 || !replies_.empty() ||
                       !client_.output().empty() || flush_due_ || resume_due_;
  const bool is_busy =
      waiting_ != nullptr || !has_no_blocked_command() || oversized_.is_active() || closing_;
  if (is_owed || is_busy) return Stay::kReplies;
  const bool hears = subscribed() || receives_messages_ || mode_ == Mode::kRaw;
  return hears ? Stay::kSubscription : Stay::kAtRest;
}

void Session::finish() {
  finishes_ = true;
  choose_reading();
}

// Requests that still arrive would run on a connection whose replies no client reads.
bool Session::reads_while_finishing() const {
  return in_multi_ || watching_ || is_blocked() || subscribed() || in_stream();
}

void Session::leave() {
  if (closed_ || leaves_) return;
  leaves_ = true;
  if (private_) give_back(false);
  input_.release();
  client_.end_output();
  client_.set_reading(true);  // to see the client's end
}

void Session::end_wait_as_timed_out() {
  if (closed_ || !is_blocked()) return;
  times_out_ = true;
  blocked_->end();
}

}  // namespace heatsink::proxy
