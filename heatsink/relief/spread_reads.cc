// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/spread_reads.h"

#include <algorithm>

#include "heatsink/relief/spread_keys.h"

namespace heatsink::proxy {
namespace {

// Both bound what a client's replies in flight may take.

}  // namespace

// Only reads that any client could have sent: by the proxy's own user, with no connection state.
// While the reply to a write of the client is held, the copies of what it wrote have not ended yet.
bool SpreadReads::may_read(const Request& request) const {
  const ClientState& state = client_.state;
  if (state.user_ != ClientState::User::kShared || state.no_local_reads_) return false;
  if (client_.traffic.holds > 0) return false;
  if (state.in_multi_ || state.watching_ || state.subscribed() || state.db_ != 0) return false;
  if (request.has_waited() && request.waited_for().redirected_to != nullptr) return false;
  return client_.session.may_share() && !client_.session.next_reply().silent;
}

bool SpreadReads::has_room(const Request& request) const {
  const std::uint64_t known = client_.session.known_reply_bytes(request);
  if (known > spread::kValueBytesMax) return false;  // it has no copies
  if (known > parts_.shared.options().stream_threshold.count) return false;
  const std::uint64_t in_flight = client_.traffic.sent - client_.traffic.received;
  return in_flight == 0 ||
         (in_flight + 1) * std::max(known, kUnknownReplyBytes) <= kExpectedBytesMax;
}

// Not behind a write of the same client to the same key.
Outcome SpreadReads::read(const Request& request) {
  if (!request.has_right_arity()) return Outcome::kPass;
  const std::string_view key = request.args()[1];
  const policy::SpreadPolicy* const policy = parts_.shared.current().spread_of(key);
  if (policy == nullptr || policy->copies == 0) return Outcome::kPass;
  if (!may_read(request) || !has_room(request)) return Outcome::kPass;
  const NameHash name = request.name_hash(1, parts_.shared.seed);
  if (client_.traffic.writes(name)) return Outcome::kPass;
  const ClientState& state = client_.state;
  SpreadKeys& spread = *parts_.spread;
  if (!spread.has_copies(key, *policy, state.protocol_)) return Outcome::kPass;
  const SpreadRead::Reader reader{.client = client_.session.requester(),
                                  .ticket = client_.session.next_reply().ticket,
                                  .protocol = state.protocol_,
                                  .key = {name, in_db(name, 0), false},
                                  .sized_as = request.facts->sized_as};
  client_.session.sent(request);
  read_until_ = client_.traffic.sent;
  spread.read(key, *policy, reader, client_.id);
  return Outcome::kAnswered;
}

}  // namespace heatsink::proxy
