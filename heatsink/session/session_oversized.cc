// SPDX-License-Identifier: Apache-2.0
// Passes a request of more than proxy.stream-threshold to a private connection as it arrives
// (oversized_request.h).
#include "heatsink/session/session.h"

namespace heatsink::proxy {

// Called once the route is known. The connection that carries the request is not given back before
// the request ends (has_state()).
Step Session::begin_oversized(Request& request) {
  request.command = request.args().empty() ? nullptr : parts_.commands.find(request.args());
  request.route =
      request.command != nullptr ? parts_.commands.facts(*request.command).route : Route::kPinned;
  const OversizedRequest::Beginning beginning =
      OversizedRequest::judge(request.command, request.route, request.args().size());
  Step step = Step::kDone;
  Upstream* const connection = connection_for_oversized(request, beginning, step);
  if (step == Step::kStall) return step;
  reliefs_.ended(connection != nullptr);
  oversized_.begin(connection != nullptr ? OversizedRequest::Fate::kSent
                                         : OversizedRequest::Fate::kDropped);
  if (connection == nullptr) return step;
  // The client has ended its output, so the rest cannot come.
  if (input_ended_) host_.call_later(*this, kStreamEndTime, &Session::end_stream);
  if (!beginning.keys_known) request.command = nullptr;
  return send_on(*connection, request, PendingKind::kForward, 0);
}

// Null: `step` says whether the request waits, or was refused.
Upstream* Session::connection_for_oversized(Request& request,
                                            const OversizedRequest::Beginning& beginning,
                                            Step& step) {
  if (!beginning.may_be_sent || mode_ == Mode::kRaw) {
    step = reply_error(
        "ERR heatsink: this command is larger than proxy.stream-threshold, which it may not be");
    return nullptr;
  }
  if (in_multi_ && transaction_failed()) {
    step = reply_error(transaction_refusal_);
    return nullptr;
  }
  if (beginning.keys_known) {
    if (const Outcome admitted = reliefs_.departs_in_part(request); admitted != Outcome::kPass) {
      step = step_of(admitted);
      return nullptr;
    }
  }
  Upstream* const connection = private_connection(request, step);
  if (connection == nullptr) step = no_connection(request, step);
  return connection;
}

std::size_t Session::stream_on(std::string_view bytes) {
  const OversizedRequest::Taken taken = oversized_.take(parser_, bytes);
  if (private_ && !taken.to_send.empty()) private_->send_more(taken.to_send);
  if (taken.is_broken) {
    parts_.count(copies::Count::kProtocolErrors);
    close();
  }
  return taken.bytes;
}

}  // namespace heatsink::proxy
