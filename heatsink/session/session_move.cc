// SPDX-License-Identifier: Apache-2.0
// Moves a session from its worker to another one.
#include <utility>

#include "heatsink/session/session.h"

namespace heatsink::proxy {

// Clients in MULTI or with subscriptions stay: their state is on a private connection, or will be.
bool Session::may_move() const {
  const bool goes_on = !closed_ && !closing_ && !input_ended_ && !client_lost_;
  const bool at_rest = in_flight() == 0 && has_no_blocked_command() && traffic_.holds == 0 &&
                       stall_ == Awaited::kNothing && !throttled_ && !flush_due_ && !resume_due_;
  const bool has_nothing = waiting_ == nullptr && again_.empty() && input_.empty() &&
                           replies_.empty() && client_.output().empty();
  const bool is_plain = private_ == nullptr && mode_ == Mode::kNormal && !in_multi_ &&
                        queued_ == nullptr && listeners_ == nullptr && client_user_ == nullptr &&
                        !watching_ && !subscribed();
  return goes_on && at_rest && has_nothing && is_plain;
}

MovedSession Session::move_out() {
  closed_ = moved_out_ = true;
  memory_.note(0);
  reliefs_.close();
  return {id_,    address_, std::move(static_cast<ClientState&>(*this)), traffic_.fence(),
          reads_, others_};
}

}  // namespace heatsink::proxy
