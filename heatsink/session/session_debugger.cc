// SPDX-License-Identifier: Apache-2.0
// Runs SCRIPT DEBUG and the scripts after it (redis-cli --ldb).
//
// The debugger speaks its own protocol on the client's connection until the server closes it, so
// the proxy relays every byte. A forked session (YES) runs on a copy of the data: its writes are
// never visible and make no local copy stale. SYNC runs on the data itself and stops the server for
// all clients, so the proxy refuses it. After a refused SCRIPT DEBUG the server would run the
// script for real, so the proxy refuses the script, too.
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {

Session::Step Session::run_script_debug(Request& request) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  const bool syncs = request.args().size() == 3 && equals_ignoring_case(request.args()[2], "sync");
  const bool wanted =
      syncs || (request.args().size() == 3 && equals_ignoring_case(request.args()[2], "yes"));
  if (syncs) {
    debugger_ = Debugger::kRefused;
    return reply_error(
        "ERR heatsink: SCRIPT DEBUG SYNC would block the server for all clients of the proxy; use "
        "YES, or connect directly to the server");
  }
  Step step = Step::kDone;
  Upstream* connection = private_connection(request, step);
  if (connection == nullptr) {
    if (step == Step::kDone && wanted) debugger_ = Debugger::kRefused;
    return no_connection(request, step);
  }
  pin();
  if (!connection->owes_nothing()) {  // the server refuses SCRIPT DEBUG while it still owes replies
    send_mark(*connection);
    return stall(Awaited::kDrain);
  }
  send_on(*connection, request, PendingKind::kDebug, wanted ? 1 : 0);
  stall(Awaited::kAnswer);
  return Step::kDone;
}

void Session::debug_answered(bool ok, bool wanted) {
  if (ok) {
    debugger_ = wanted ? Debugger::kNext : Debugger::kOff;
  } else if (wanted) {
    debugger_ = Debugger::kRefused;
  }
}

Session::Step Session::run_in_debugger(Request& request) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  if (debugger_ == Debugger::kRefused) {
    return reply_error(
        "ERR heatsink: SCRIPT DEBUG was refused, so this script is not run; send SCRIPT DEBUG NO "
        "to run it without the debugger");
  }
  Step step = Step::kDone;
  Upstream* connection = private_connection(request, step);
  if (connection == nullptr) return no_connection(request, step);
  parts_.count(copies::Count::kCommands);
  connection->relay_raw(request.raw);
  mode_ = Mode::kRaw;
  debugger_ = Debugger::kBegins;
  return Step::kDone;
}

Session::Step Session::send_to_debugger(Request& request) {
  if (private_) private_->send_more(request.raw);
  return Step::kDone;
}

// The server answered with an error, because it cannot fork. Its connection would now accept
// commands again, but the proxy no longer parses them: the session ends.
bool Session::debugger_fails(std::string_view bytes) {
  debugger_ = Debugger::kRuns;
  return bytes.starts_with('-');
}

}  // namespace heatsink::proxy
