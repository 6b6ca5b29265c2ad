// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/spread_reads.h"

#include "heatsink/proxy/spread_keys.h"

namespace heatsink::proxy {

// Only reads that any client could have sent: by the proxy's own user, with no connection state,
// and not behind a write of the same client to the same key.
Outcome SpreadReads::read(const Request& request) {
  if (!request.has_right_arity()) return Outcome::kPass;
  const std::string_view key = request.args()[1];
  const policy::SpreadPolicy* const policy = parts_.shared.current().spread_of(key);
  if (policy == nullptr || policy->copies == 0) return Outcome::kPass;
  const ClientState& state = client_.state;
  if (state.user_ != ClientState::User::kShared || state.no_local_reads_) return Outcome::kPass;
  if (state.in_multi_ || state.watching_ || !client_.session.may_share()) return Outcome::kPass;
  if (client_.traffic.writes(request.name_hash(1, parts_.shared.seed))) return Outcome::kPass;
  SpreadKeys& spread = *parts_.spread;
  if (!spread.has_copies(key, *policy, state.protocol_)) return Outcome::kPass;
  const ReliefClient::NextReply reply = client_.session.next_reply();
  const SpreadRead::Reader reader{client_.session.requester(), reply.ticket, reply.silent,
                                  state.protocol_};
  client_.session.sent(request);
  read_until_ = client_.traffic.sent;
  spread.read(key, *policy, reader, client_.id);
  return Outcome::kAnswered;
}

}  // namespace heatsink::proxy
