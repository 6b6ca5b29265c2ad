// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/barriers.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/command/ascii.h"

namespace heatsink::proxy {
namespace {

using Barrier = Request::Waited::Barrier;

constexpr std::array<std::string_view, 10> kHelp = {
    "HEATSINK <subcommand>. Subcommands are:",
    "BARRIER [<timeout-ms>]",
    "    Return OK when every later read through this proxy sees all writes that the server has",
    "    executed until now. Return an error after timeout-ms (1 .. 60000, default 5000).",
    "NODES",
    "    List the nodes of the cluster behind the proxy: address, and master or replica.",
    "NODE <host:port> <command> [<arg> ...]",
    "    Run a command about one node there: INFO, CONFIG, SLOWLOG, CLIENT LIST, ...",
    "HELP",
    "    Print this help."};

// Returns 0 if the text is no allowed timeout.
Millis parse_timeout(std::string_view text) {
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  const bool valid = error == std::errc{} && end == text.data() + text.size() && ms >= 1 &&
                     ms <= Barriers::kTimeoutMax.count();
  return Millis(valid ? ms : 0);
}

}  // namespace

Outcome Barriers::look(Request& request) {
  if (!equals_ignoring_case(request.args()[0], "heatsink")) return Outcome::kPass;
  const ClientState& state = client_.state;
  if (state.user_ == ClientState::User::kUnauthenticated)
    return refuse("NOAUTH Authentication required.");
  if (state.in_multi_ || (state.subscribed() && state.protocol_ == resp::Protocol::kResp2)) {
    request.route = Route::kPrivate;
    return Outcome::kPass;
  }
  if (request.args().size() == 1)
    return refuse("ERR wrong number of arguments for 'heatsink' command");
  const std::string_view what = request.args()[1];
  const bool is_of_session =
      equals_ignoring_case(what, "node") || equals_ignoring_case(what, "nodes");
  if (is_of_session) return Outcome::kPass;  // Session::run_nodes()
  if (equals_ignoring_case(what, "barrier")) return run_barrier(request);
  if (equals_ignoring_case(what, "help") && request.args().size() == 2) return serve_help();
  return refuse("ERR unknown subcommand or wrong number of arguments for '" + printable(what, 128) +
                "'. Try HEATSINK HELP.");
}

Outcome Barriers::serve_help() {
  if (client_.traffic.in_flight() > 0) return drain();
  ByteBuffer help;
  resp::append_array_header(help, static_cast<std::int64_t>(kHelp.size()));
  for (const std::string_view line : kHelp) resp::append_simple(help, line);
  return answer(help.view());
}

// The server sends the invalidations of all earlier writes before its answer to a question that is
// asked now. Only fills that were asked earlier could deliver older values later, so no read may
// join them any longer. A tracker that is down, or fails meanwhile, has no copies: every read goes
// to the server, and nothing has to be awaited.
Outcome Barriers::run_barrier(Request& request) {
  const Millis timeout = request.args().size() == 2 ? kTimeout : parse_timeout(request.args()[2]);
  if (request.args().size() > 3 || timeout == Millis(0))
    return refuse("ERR heatsink: the timeout of HEATSINK BARRIER must be 1 to 60000 milliseconds");
  if (client_.traffic.in_flight() > 0) return drain();
  switch (request.has_waited() ? request.waited().barrier : Barrier::kNone) {
    case Barrier::kPassed:
      parts_.count(copies::Count::kBarrierCommands);
      return answer("+OK\r\n");
    case Barrier::kLate:
      parts_.count(copies::Count::kBarrierCommandsLate);
      return refuse("TIMEOUT heatsink: could not confirm within " + format_duration(timeout) +
                    " that reads see all earlier writes");
    default:
      break;
  }
  if (!parts_.shared.options().cache_enabled) return answer("+OK\r\n");
  parts_.copies.forget_fills_asked_before(request.now);
  await_tracker(request);
  timer_ = parts_.loop.call_after(timeout, [this, ticket = last_ticket_] { late(ticket); });
  return Outcome::kWaits;
}

Outcome Barriers::await_tracker(Request& request) {
  request.waited().barrier = Barrier::kAsked;
  request.waited().ticket = ++last_ticket_;
  parts_.copies.ask_barrier(client_.id, last_ticket_);
  client_.session.hold(request, *this);
  return Outcome::kWaits;
}

void Barriers::passed(std::uint64_t ticket) { end_wait(ticket, Barrier::kPassed); }

void Barriers::late(std::uint64_t ticket) {
  timer_ = 0;
  end_wait(ticket, Barrier::kLate);
}

// The tracker may answer for a request that timed out long ago.
void Barriers::end_wait(std::uint64_t ticket, Barrier how) {
  Request* const held = client_.session.held_by(*this);
  if (held == nullptr || held->waited().ticket != ticket) return;
  held->waited().barrier = how;
  close();
  client_.session.let_go(*this);
}

void Barriers::close() { parts_.loop.cancel(std::exchange(timer_, 0)); }

Outcome Barriers::answer(std::string_view reply) {
  client_.session.serve(reply);
  return Outcome::kAnswered;
}

Outcome Barriers::refuse(std::string_view text) {
  ByteBuffer error;
  resp::append_error(error, text);
  return answer(error.view());
}

Outcome Barriers::drain() {
  client_.session.hold_until_drained();
  return Outcome::kWaits;
}

}  // namespace heatsink::proxy
