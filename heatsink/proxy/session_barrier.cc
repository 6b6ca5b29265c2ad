// SPDX-License-Identifier: Apache-2.0
// HEATSINK BARRIER, the one command that only the proxy knows, and waiting for the tracker.
#include <array>
#include <charconv>
#include <string>

#include "heatsink/base/printable.h"
#include "heatsink/proxy/ascii.h"
#include "heatsink/proxy/session.h"

namespace heatsink::proxy {
namespace {

constexpr Millis kBarrierTimeout{5000};
constexpr Millis kBarrierTimeoutMax{60'000};

constexpr std::array<std::string_view, 6> kHelp = {
    "HEATSINK <subcommand>. Subcommands are:",
    "BARRIER [<timeout-ms>]",
    "    Return OK when every later read through this proxy sees all writes that the server has",
    "    executed until now. Return an error after timeout-ms (1 .. 60000, default 5000).",
    "HELP",
    "    Print this help."};

// 0: it is none that may be.
Millis parse_timeout(std::string_view text) {
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  const bool valid = error == std::errc{} && end == text.data() + text.size() && ms >= 1 &&
                     ms <= kBarrierTimeoutMax.count();
  return Millis(valid ? ms : 0);
}

}  // namespace

bool Session::is_ours(const Request& request) {
  return equals_ignoring_case(request.args()[0], "heatsink");
}

// The server knows no such command. Inside MULTI it is asked nevertheless, so that it refuses and
// the transaction fails; and a subscriber in RESP2 is told what it may say.
Session::Step Session::run_ours(Request& request) {
  if (user_ == User::kNobody) return reply_error("NOAUTH Authentication required.");
  if (in_multi_ || (subscribed() && protocol_ == resp::Protocol::kResp2)) {
    request.route = Route::kPrivate;
    return in_multi_ ? in_transaction(request) : run(request);
  }
  if (request.args().size() == 1)
    return reply_error("ERR wrong number of arguments for 'heatsink' command");
  const std::string_view what = request.args()[1];
  if (equals_ignoring_case(what, "barrier")) return run_barrier(request);
  if (!equals_ignoring_case(what, "help") || request.args().size() != 2)
    return reply_error("ERR unknown subcommand or wrong number of arguments for '" +
                       printable(what, 128) + "'. Try HEATSINK HELP.");
  if (in_flight() > 0) return stall(Awaited::kDrain);
  ByteBuffer help;
  resp::append_array_header(help, static_cast<std::int64_t>(kHelp.size()));
  for (const std::string_view line : kHelp) resp::append_simple(help, line);
  return reply(help.view());
}

// What was written before now is invalidated before the tracker answers what it is asked now. Only
// answers to fills asked earlier could come behind that: nobody may join them any longer. A tracker
// that is down, or goes down meanwhile, has no copies: then every read goes to the server, and
// nothing need be waited for.
Session::Step Session::run_barrier(Request& request) {
  const Millis timeout =
      request.args().size() == 2 ? kBarrierTimeout : parse_timeout(request.args()[2]);
  if (request.args().size() > 3 || timeout == Millis(0))
    return reply_error(
        "ERR heatsink: the timeout of HEATSINK BARRIER must be 1 to 60000 milliseconds");
  if (in_flight() > 0) return stall(Awaited::kDrain);
  using Barrier = Request::Waited::Barrier;
  switch (request.has_waited() ? request.waited().barrier : Barrier::kNone) {
    case Barrier::kPassed:
      parts_.count(Count::kBarrierCommands);
      return reply("+OK\r\n");
    case Barrier::kLate:
      parts_.count(Count::kBarrierCommandsLate);
      return reply_error("TIMEOUT heatsink: could not confirm within " + format_duration(timeout) +
                         " that reads see all earlier writes");
    default:
      break;
  }
  if (!parts_.shared.options.cache_enabled) return reply("+OK\r\n");
  parts_.copies.forget_fills_asked_before(request.now);
  await_barrier(request, Awaited::kBarrier);
  const std::uint64_t ticket = request.waited().ticket;
  barrier_timer_ = parts_.loop.call_after(timeout, [this, ticket] { barrier_late(ticket); });
  return Step::kStall;
}

void Session::await_barrier(Request& request, Awaited what) {
  request.waited().barrier = Request::Waited::Barrier::kAsked;
  request.waited().ticket = ++last_ticket_;
  parts_.copies.ask_barrier(id_, last_ticket_);
  stall(what);
}

void Session::barrier_passed(std::uint64_t ticket) {
  if (!awaits_barrier(ticket)) return;
  waiting_->waited().barrier = Request::Waited::Barrier::kPassed;
  parts_.loop.cancel(std::exchange(barrier_timer_, 0));
  resume_later();
}

void Session::barrier_late(std::uint64_t ticket) {
  barrier_timer_ = 0;
  if (!awaits_barrier(ticket)) return;
  waiting_->waited().barrier = Request::Waited::Barrier::kLate;
  resume_later();
}

bool Session::awaits_barrier(std::uint64_t ticket) const {
  if (closed_ || waiting_ == nullptr || !waiting_->has_waited()) return false;
  const Request::Waited& waited = waiting_->waited();
  return waited.ticket == ticket && waited.barrier == Request::Waited::Barrier::kAsked;
}

bool Session::waits() const {
  return offered_ ||
         ((stall_ == Awaited::kDrain || stall_ == Awaited::kAnswer) && in_flight() > 0) ||
         (stall_ == Awaited::kFill && waiting_->waited().answer == nullptr) ||
         ((stall_ == Awaited::kProof || stall_ == Awaited::kBarrier) &&
          waiting_->waited().barrier == Request::Waited::Barrier::kAsked) ||
         (stall_ == Awaited::kTurn && limiting_.waits());
}

}  // namespace heatsink::proxy
