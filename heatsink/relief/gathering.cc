// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/gathering.h"

#include "heatsink/base/hash_inline.h"
#include "heatsink/command/pending.h"
#include "heatsink/relief/write_gatherer.h"
#include "heatsink/upstream/requester.h"

namespace heatsink::proxy {

bool Gathering::is_on() const {
  return gathered_ > 0 || (parts_.write_gatherer != nullptr && parts_.write_gatherer->is_on());
}

// Only writes that any client could have sent: by the proxy's own user, with no connection state.
std::optional<GatherableWrite> Gathering::may_gather(const Request& request) const {
  const ClientState& state = client_.state;
  if (state.user_ != ClientState::User::kShared || state.no_local_reads_) return std::nullopt;
  if (state.in_multi_ || state.watching_ || !client_.session.may_share()) return std::nullopt;
  if (request.route != Route::kShared || !request.has_right_arity()) return std::nullopt;
  return gatherable_write(request.facts->gathered_as, request.args());
}

Outcome Gathering::gather(const Request& request) {
  if (!parts_.write_gatherer->is_on()) return Outcome::kPass;
  const std::optional<GatherableWrite> write = may_gather(request);
  if (!write) return Outcome::kPass;
  WriteGatherer& gatherer = *parts_.write_gatherer;
  const std::string_view key = request.args()[1];
  const Nanos window = gatherer.window_of(key);
  if (window == Nanos(0)) return Outcome::kPass;
  const ClientState& state = client_.state;
  const NameHash name = request.name_hash(1, parts_.shared.seed);
  const GatheredWrite::Target target{name, in_db(name, state.db_), state.db_, state.protocol_};
  const GatherWindows::Group group = GatherWindows::group_of(write->kind, target);
  if (gathered_ > 0 && group != group_) return Outcome::kPass;
  if (!gatherer.may_send(key, target)) return Outcome::kPass;
  if (!gatherer.waits(group, window, request.now)) return Outcome::kPass;
  // Other requests of the client are in flight on a connection: the gathered write must not
  // overtake them.
  if (client_.traffic.in_flight() > gathered_) return drain();
  const ReliefClient::NextReply reply = client_.session.next_reply();
  const GatheredWrite::Part part{this, reply.ticket, write->amount, request.raw, reply.silent};
  if (!gatherer.join(group, write->kind, key, target, part)) return Outcome::kPass;
  client_.session.sent(request);
  parts_.count(copies::Count::kGathered);
  ++gathered_;
  group_ = group;
  return Outcome::kAnswered;
}

Outcome Gathering::drain() {
  client_.session.hold_until_drained();
  return Outcome::kWaits;
}

void Gathering::answered(ReplyQueue::Ticket ticket, std::string_view wire, TimePoint read_at) {
  --gathered_;
  Requester& client = client_.session.requester();
  client.note_reply_at(read_at);
  if (!wire.empty()) client.take_reply(ticket, wire);
  Pending pending;
  pending.ticket = ticket;
  // The reply is complete: reply_done() only closes its ticket.
  client.reply_done(pending, true, {}, {});
}

void Gathering::lost(ReplyQueue::Ticket ticket, bool silent, const std::string& reason) {
  --gathered_;
  Pending pending;
  pending.ticket = ticket;
  pending.silent = silent;
  client_.session.requester().reply_lost(pending, false, reason);
}

Requester& Gathering::stop_gathering() {
  --gathered_;
  return client_.session.requester();
}

}  // namespace heatsink::proxy
