// SPDX-License-Identifier: Apache-2.0
// Writes of this client that wait for those of others to the same key.
#include "heatsink/base/hash_inline.h"
#include "heatsink/proxy/coalescing.h"
#include "heatsink/proxy/session.h"

namespace heatsink::proxy {

// Only what could be anybody's: on the proxy's own user, with no state on a connection.
std::optional<Coalescible> Session::may_coalesce(const Request& request) const {
  if (request.facts->gathered_as == CoalesceVerb::kNone) return std::nullopt;
  if (user_ != User::kShared || server_knows_best_) return std::nullopt;
  if (in_multi_ || watching_ || mode_ != Mode::kNormal) return std::nullopt;
  if (private_ && !may_leave_private()) return std::nullopt;
  if (request.route != Route::kShared || !request.has_right_arity()) return std::nullopt;
  return coalescible(request.facts->gathered_as, request.args());
}

// nullopt: it goes its own way. While writes of this client are being gathered all else waits:
// they are a lane of their own.
std::optional<Session::Step> Session::try_coalesce(Request& request) {
  const std::optional<Coalescible> write = may_coalesce(request);
  if (write) {
    if (const std::optional<Step> step = coalesce(request, *write)) return step;
  }
  return coalescing_ > 0 ? std::optional(stall(Awaited::kDrain)) : std::nullopt;
}

std::optional<Session::Step> Session::coalesce(Request& request, const Coalescible& write) {
  Coalescing& lane = *parts_.coalescing;
  const std::string_view key = request.args()[1];
  const Nanos window = lane.window_of(key);
  if (window == Nanos(0)) return std::nullopt;
  const NameHash name = hash_name_inline(key, parts_.shared.seed);
  const CoalescedWrite::Target target{name, in_db(name, db_), db_, protocol_};
  const Coalescer::Line line = Coalescer::line_of(write.kind, target);
  if (coalescing_ > 0 && line != coalescing_in_) return std::nullopt;
  const Upstreams::Shared shared = parts_.upstreams.shared(protocol_);
  if (shared.connection == nullptr || !(shared.connection->knows_db(db_))) return std::nullopt;
  if (!lane.waits(line, window, request.now)) return std::nullopt;
  if (in_flight() > coalescing_) return stall(Awaited::kDrain);
  if (const Outcome admitted = limiting_.admit(request); admitted != Outcome::kPass)
    return step_of(admitted);
  if (private_) give_back(true);
  const bool silent = take_silence();
  if (!lane.join(line, write.kind, key, target,
                 {this, replies_.next(), write.amount, request.raw, silent})) {
    reply_skip_ |= silent && !reply_off_;
    return std::nullopt;
  }
  note_coalesced(request);
  coalescing_in_ = line;
  return Step::kDone;
}

void Session::note_coalesced(const Request& request) {
  Pending counted;
  note_keys(request, counted);
  parts_.count(Count::kCommands);
  parts_.count(Count::kGathered);
  ++traffic_.sent;
  last_effect_ = replies_.expect();
  ++coalescing_;
}

void Session::coalesced(ReplyQueue::Ticket ticket, std::string_view wire, TimePoint read_at) {
  --coalescing_;
  ++traffic_.received;
  if (closed_) {
    if (in_flight() == 0) host_.bury(*this);
    return;
  }
  told(read_at);
  if (!wire.empty()) put_reply(ticket, wire);
  end_reply(ticket);
  after_reply();
}

void Session::coalesced_lost(Pending& pending, const std::string& reason) {
  --coalescing_;
  reply_lost(pending, false, reason);
}

}  // namespace heatsink::proxy
