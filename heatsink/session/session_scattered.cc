// SPDX-License-Identifier: Apache-2.0
// Answers what commands in parts ask of their client (scattered_commands.h).
#include <utility>

#include "heatsink/session/session.h"

namespace heatsink::proxy {

ScatteredCommands& Session::scattered() {
  if (scattered_ == nullptr) {
    const ClientState& state = *this;
    ScatteredCommands::Client& client = *this;
    scattered_ = std::make_unique<ScatteredCommands>(parts_, state, client);
  }
  return *scattered_;
}

std::optional<Step> Session::before_parts(Request& request) {
  const Outcome outcome = reliefs_.departs(request);
  if (outcome != Outcome::kPass) return step_of(outcome);
  const bool has_shared_only = !private_ || may_leave_private();
  if (must_drain_first() || (!has_shared_only && in_flight() > 0)) return stall(Awaited::kDrain);
  if (private_ && may_leave_private()) give_back(true);
  return std::nullopt;
}

Upstream* Session::shared_at(const Destination& to, Request& request, Step& step) {
  const Upstreams::Shared shared = upstreams_->shared(protocol_, to);
  Upstream* connection = nullptr;
  if (shared.connection == nullptr || shared.connection->is_read_slowly()) {
    without_shared(request, protocol_, to, shared, step);
  } else {
    connection = in_right_db(*shared.connection, request, step);
  }
  if (connection == nullptr) step = no_connection(request, step);
  return connection;
}

Step Session::refuse_in_any_state(std::string&& text) {
  if (queued_ != nullptr) return refuse_to_queue(std::move(text));
  return reply_error(text);
}

Session::Joined Session::expect_joined(const Request& request, Pending& noted) {
  note_keys(request, noted);
  const ReplyQueue::Ticket ticket = replies_.expect();
  if (!request.command->has(resp::kReadonly) && !request.facts->reveals_no_key)
    last_effect_ = ticket;
  return {ticket, take_silence()};
}

void Session::parts_sent() {
  if (private_) stall(Awaited::kAnswer);  // its next command goes there
  follow_alone();
}

void Session::parts_ended(Scatter& scatter) {
  ++traffic_.received;
  flush_later();
  if (closed_) {
    if (in_flight() == 0) host_.destroy_at_end_of_turn(*this);
    return;
  }
  within_memory([&] { scattered_->finish(scatter); });
}

bool Session::closes_for_loss() {
  parts_.count(copies::Count::kUpstreamErrors);
  if (!closes_when_down()) return false;
  close_when_flushed();
  return true;
}

void Session::end_joined(ReplyQueue::Ticket ticket, bool silent, std::string_view wire) {
  if (!silent) put_reply(ticket, wire);
  end_reply(ticket);
  after_reply();
}

}  // namespace heatsink::proxy
