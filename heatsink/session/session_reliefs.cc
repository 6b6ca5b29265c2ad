// SPDX-License-Identifier: Apache-2.0
// Implements what the reliefs may do to a session (relief.h), and what a session still waits for.
#include "heatsink/session/session.h"

namespace heatsink::proxy {

void Session::hold(Request& request, const Relief& by) {
  request.waited().held_by = &by;
  stall(Awaited::kRelief);
}

Request* Session::held_by(const Relief& relief) {
  const bool is_held = !closed_ && waiting_ != nullptr && waiting_->has_waited() &&
                       waiting_->waited().held_by == &relief;
  return is_held ? waiting_.get() : nullptr;
}

void Session::let_go(const Relief& by) {
  Request* const held = held_by(by);
  if (held == nullptr) return;
  held->waited().held_by = nullptr;
  resume_later();
}

void Session::hold_until_drained() { stall(Awaited::kDrain); }

bool Session::may_share() const {
  return mode_ == Mode::kNormal && (!private_ || may_leave_private());
}

ReliefClient::NextReply Session::next_reply() const {
  return {replies_.next(), reply_off_ || reply_skip_};
}

void Session::sent(const Request& request) {
  if (private_) give_back(true);
  static_cast<void>(take_silence());  // next_reply() has reported it
  // Marks the keys as touched until the reply; the relief sends the request with a Pending of its
  // own.
  Pending noted;
  note_keys(request, noted);
  parts_.count(copies::Count::kCommands);
  ++traffic_.sent;
  const ReplyQueue::Ticket ticket = replies_.expect();
  if (request.command == nullptr || !request.command->has(resp::kReadonly)) last_effect_ = ticket;
}

// The awaited event has not happened: another event woke the session.
bool Session::waits() const {
  return is_offering() ||
         ((stall_ == Awaited::kDrain || stall_ == Awaited::kAnswer) && in_flight() > 0) ||
         (stall_ == Awaited::kRelief && waiting_->waited().held_by != nullptr);
}

}  // namespace heatsink::proxy
