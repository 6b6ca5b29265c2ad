// SPDX-License-Identifier: Apache-2.0
// SCRIPT DEBUG and the scripts behind it (redis-cli --ldb).
//
// The debugger speaks a protocol of its own on the client's connection until the server closes it,
// so that every byte is relayed. A forked session (YES) runs on a copy of the data: nothing that it
// writes is ever seen, and no local copy can be stale because of it. SYNC runs on the data itself
// and stops the server for everybody: it is refused. A script behind a refused SCRIPT DEBUG would
// be run for real: so it is refused, too.
#include <utility>

#include "heatsink/proxy/ascii.h"
#include "heatsink/proxy/session.h"

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
  if (!connection->owes_nothing()) {  // the server refuses it while there are replies to be sent
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

Session::Step Session::tell_debugger(Request& request) {
  if (private_) private_->send_more(request.raw);
  return Step::kDone;
}

// An error instead of a session (the server cannot fork): from now on its connection would take
// commands again, which nobody looks at here.
bool Session::debugger_fails(std::string_view bytes) {
  debugger_ = Debugger::kRuns;
  return bytes.starts_with('-');
}

}  // namespace heatsink::proxy
