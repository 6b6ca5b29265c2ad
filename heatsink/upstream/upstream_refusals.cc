// SPDX-License-Identifier: Apache-2.0
// Detects replies with which a node of a cluster refuses a request, so that another node executes
// it and the client never sees them.
#include <string>
#include <utility>

#include "heatsink/topology/topology.h"
#include "heatsink/upstream/connection_owner.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {
namespace {

// A redirect would make no sense to a client that knows one server.
constexpr std::string_view kNotFollowed =
    "-ERR heatsink: the key is on another node of the cluster than the state of this connection "
    "(subscriptions, WATCH); use another connection for it\r\n";

}  // namespace

// A private connection does not keep its requests, so those that may be sent again keep their own
// bytes. A request that has only begun (send_more()) cannot be.
bool Upstream::may_be_refused(const Pending& pending) const {
  const bool is_command =
      pending.kind == PendingKind::kForward || pending.kind == PendingKind::kAgain;
  return is_command && shared_.cluster.is_expected() && pending.session != nullptr &&
         (owner_ == nullptr || !owner_->is_streaming()) && login_ == Login::kOwn;
}

// A node of a cluster that does not own the slot has not executed the request, so the client must
// not see its error. Another user's requests cannot be sent on other connections.
bool Upstream::may_be_refusal(const Pending& pending) const {
  return scanner_.type() == '-' && shared_.cluster.is_expected() && login_ == Login::kOwn &&
         (pending.session != nullptr || pending.kind == PendingKind::kCoalesced);
}

// The error has ended. True: the request is on its way to another server, or was taken back, or the
// connection has failed.
bool Upstream::end_refusal() {
  is_refusal_ = false;
  const std::string error = captured_;
  const std::uint64_t expected = pending_.front().expected;
  std::string request;
  if (is_shared()) request = output_.view().substr(0, pending_.front().bytes);
  drop_request(pending_.front());
  Pending& front = pending_.front();
  const bool taken_back =
      owner_ != nullptr && front.session != nullptr && owner_->takes_back(front, error);
  const bool may_go_on = is_shared() || front.rerouted != nullptr;
  if (taken_back || (may_go_on && host_.reroute(*this, front, request, error))) {
    if (state_ == State::kFailed) return true;
    static_cast<void>(pending_.pop_front());
    owed_ -= expected;
    return true;
  }
  if (state_ == State::kFailed || !aim(pending_.front())) return true;
  if (target_ != nullptr)
    hand_on(topology::parse_redirect(topology::error_line(error)) ? kNotFollowed : error);
  return false;
}

}  // namespace heatsink::proxy
