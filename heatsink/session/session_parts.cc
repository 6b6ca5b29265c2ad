// SPDX-License-Identifier: Apache-2.0
// Answers what the parts of a session and its reliefs ask of it, and makes the parts.
#include <optional>
#include <utility>

#include "heatsink/session/cached_read.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {

// ---- ReliefClient

void Session::hold(Request& request, const Relief& by) {
  request.waited().held_by = &by;
  stall(Awaited::kRelief);
}

Request* Session::held_by(const Relief& relief) {
  Request* const waiting = input_.waiting();
  const bool is_held = !closed() && waiting != nullptr && waiting->has_waited() &&
                       waiting->waited().held_by == &relief;
  return is_held ? waiting : nullptr;
}

void Session::let_go(const Relief& by) {
  Request* const held = held_by(by);
  if (held == nullptr) return;
  held->waited().held_by = nullptr;
  resume_later();
}

void Session::hold_until_drained() { stall(Awaited::kDrain); }

bool Session::may_share() const { return !is_raw() && servers_.may_share(); }

ReliefClient::NextReply Session::next_reply() const {
  return {output_.next(), reply_off_ || reply_skip_};
}

void Session::sent(const Request& request) {
  servers_.give_back(true);
  static_cast<void>(take_silence());  // next_reply() has reported it
  // Marks the keys as touched until the reply; the relief sends the request with a Pending of its
  // own.
  Pending noted;
  effects().note_keys(request, noted);
  parts_.count(copies::Count::kCommands);
  ++traffic_.sent;
  const bool reads = request.command != nullptr && request.command->has(resp::kReadonly);
  static_cast<void>(reads ? output_.expect() : output_.expect_effect());
}

// The awaited event has not happened: another event woke the session.
bool Session::waits() const {
  const Awaited awaited = input_.awaited();
  return is_offering() ||
         ((awaited == Awaited::kDrain || awaited == Awaited::kAnswer) && in_flight() > 0) ||
         (awaited == Awaited::kDrain && servers_.is_in_message()) ||
         (awaited == Awaited::kRelief && input_.waiting()->waited().held_by != nullptr);
}

// ---- ScatteredCommands::Client

ScatteredCommands& Session::scattered() {
  if (scattered_ == nullptr) {
    const ClientState& state = *this;
    ScatteredCommands::Client& client = *this;
    scattered_ = std::make_unique<ScatteredCommands>(parts_, state, client);
  }
  return *scattered_;
}

std::optional<Step> Session::before_parts(Request& request) {
  const Outcome outcome = reliefs_.departs(request);
  if (outcome != Outcome::kPass) return step_of(outcome);
  const bool must_drain = servers_.must_drain_first();
  if (must_drain || (!servers_.may_share() && in_flight() > 0)) return stall(Awaited::kDrain);
  servers_.leave_if_free();
  return std::nullopt;
}

Upstream* Session::shared_at(const Destination& to, Request& request, Step& step) {
  Upstream* const connection = servers_.shared_at(to, request, step);
  if (connection == nullptr) step = no_connection(request, step);
  return connection;
}

Step Session::refuse_in_any_state(std::string&& text) {
  if (is_queueing()) return transaction_->refuse_to_queue(std::move(text));
  return reply_error(text);
}

Session::Joined Session::expect_joined(const Request& request, Pending& noted) {
  effects().note_keys(request, noted);
  const bool harmless = request.command->has(resp::kReadonly) || request.facts->reveals_no_key;
  const ReplyQueue::Ticket ticket = harmless ? output_.expect() : output_.expect_effect();
  return {ticket, take_silence()};
}

void Session::parts_sent() {
  if (own() != nullptr) stall(Awaited::kAnswer);  // its next command goes there
  follow_alone();
}

void Session::parts_ended(Scatter& scatter) {
  output_.flush_later();
  if (request_ended(0)) within_memory([&] { scattered_->finish(scatter); });
}

bool Session::closes_for_loss() {
  parts_.count(copies::Count::kUpstreamErrors);
  if (!closes_when_down()) return false;
  close_when_flushed();
  return true;
}

// ---- BlockedCommand::Client

BlockedCommand& Session::blocked() {
  if (blocked_ == nullptr) {
    const ClientState& state = *this;
    BlockedCommand::Client& client = *this;
    blocked_ = std::make_unique<BlockedCommand>(parts_, state, client);
  }
  return *blocked_;
}

void Session::call_later(Nanos pause, Later what) {
  host_.call_later(*this, pause,
                   what == Later::kEndOfWait ? &Session::retry_end_of_wait : &Session::offer_taken);
}

void Session::end_wait() {
  const bool is_due = is_blocked() && (presence_ != Presence::kHere || blocked_->is_timed_out());
  if (is_due && !closed()) blocked_->end();
}

void Session::retry_end_of_wait() {
  if (blocked_ != nullptr) blocked_->pause_is_over();
  end_wait();
}

void Session::offer_taken() {
  if (!closed() && is_offering()) blocked_->offer_taken();
}

void Session::ask_node(ReplyQueue::Ticket ticket, std::string&& request,
                       redis::UpstreamAddress& node) {
  output_.take_back(ticket);
  refused().repeat(std::move(request), &node, false);
}

// ---- RefusedRequests::Client

RefusedRequests& Session::refused() {
  if (refused_ == nullptr) {
    RefusedRequests::Client& client = *this;
    refused_ = std::make_unique<RefusedRequests>(parts_, client);
  }
  return *refused_;
}

bool Session::takes_back(Pending& pending, std::string_view error) {
  const std::string_view line = topology::error_line(error);
  // The server keeps no state for a command that it does not know. Client libraries try out
  // commands of other servers; that must not bind them to one node.
  if (pending.pins && resp::is_unknown_command(line)) servers_.unpin();
  if (pending.of == Transaction::of(Transaction::Asked::kQueued)) {
    transaction_->queued_refused(line);
    static_cast<void>(request_ended(pending.expected));
    return true;
  }
  return RefusedRequests::is_repeatable(pending) && refused().takes_back(pending, line);
}

std::string_view Session::decisive(const Pending& pending, std::string_view line) const {
  return RefusedRequests::is_blocking(pending) ? line : transaction_->decisive(pending, line);
}

std::string Session::answer_to_refused(const Pending& pending, std::string_view line) const {
  if (RefusedRequests::is_blocking(pending)) return {};
  return transaction_->answer_to_refused(pending, line);
}

std::string Session::answer_to_moved(const Pending& pending) const {
  if (RefusedRequests::is_blocking(pending)) return {};
  return transaction_->answer_to_moved(pending);
}

std::string Session::wire_to_repeat(const Pending& pending) {
  if (!RefusedRequests::is_blocking(pending)) return transaction_->wire_to_repeat(pending);
  return is_blocked() && !blocked_->wait().keeps_reply() ? blocked_->request_for_time_left() : "";
}

// It was the last one, because nothing follows such a request.
void Session::undo_sending(Pending& pending) {
  parts_.copies.settle(pending, this, parts_.loop.clock(), copies::Shown::kNothing);
  static_cast<void>(request_ended(pending.expected));
  output_.take_back(pending.ticket);
  if (blocked_ != nullptr) blocked_->drop();
  if (pending.of.part == SessionPart::kTransaction) transaction_->undo_sending(pending);
}

void Session::answer_instead(Pending& pending, std::string_view wire) {
  parts_.copies.settle(pending, this, parts_.loop.clock(), copies::Shown::kNothing);
  static_cast<void>(request_ended(pending.expected));
  transaction_->lost(pending);
  give_rest(pending.ticket, pending.silent ? std::string_view() : wire);
}

void Session::look_after(Nanos pause) { host_.call_later(*this, pause, &Session::end_pause); }

void Session::end_pause() {
  if (!closed() && input_.awaited() == Awaited::kPause) resume_later();
}

// ---- Subscriptions::Client

Subscriptions& Session::subscriptions() {
  if (subscriptions_ == nullptr) {
    ClientState& state = *this;
    Subscriptions::Client& client = *this;
    subscriptions_ = std::make_unique<Subscriptions>(parts_, state, client);
  }
  return *subscriptions_;
}

std::optional<Step> Session::keep_connection(Request& request) {
  Step step = Step::kDone;
  if (servers_.own_for(request, step) == nullptr) return no_connection(request, step);
  servers_.pin();
  return std::nullopt;
}

Step Session::send_subscribing(Request& request, std::uint32_t confirmations) {
  return send_on(*own(), request, PartRequest(SessionPart::kSubscriptions), confirmations);
}

void Session::look_later(Nanos pause, Look what) {
  host_.call_later(*this, pause,
                   what == Look::kSoon ? &Session::look_at_subscriptions
                                       : &Session::look_at_subscriptions_again);
}

void Session::look_at_subscriptions() {
  if (subscriptions_ != nullptr) subscriptions_->look();
}

void Session::look_at_subscriptions_again() {
  if (subscriptions_ != nullptr) subscriptions_->look_again();
}

void Session::give_messages(std::string_view wire) {
  within_memory([&] {
    output_.append(wire);
    close_if_output_full();
  });
}

void Session::confirm(std::string_view wire) {
  static_cast<void>(take_silence());
  within_memory([&] { output_.append(wire); });
}

// ---- RawStream::Client

RawStream& Session::raw_stream() {
  if (raw_ == nullptr) {
    ClientState& state = *this;
    RawStream::Client& client = *this;
    raw_ = std::make_unique<RawStream>(state, client);
  }
  return *raw_;
}

void Session::end_near_cache() {
  if (near_ == nullptr) return;
  near_->end_all_now();
  near_->stop();
}

bool Session::relay(std::string_view request) {
  if (own() == nullptr) return false;
  own()->relay_raw(request);
  return true;
}

// ---- NearClient::Client

NearClient& Session::near() {
  if (near_ == nullptr) {
    ClientState& state = *this;
    NearClient::Client& client = *this;
    near_ = std::make_unique<NearClient>(parts_, state, traffic_, output_, client);
  }
  return *near_;
}

// The proxy can track for the client itself, and need not bind it to a connection.
bool Session::may_track_here(const Request& request) const {
  const bool asks = request.facts->asks_tracking && parts_.near_table != nullptr &&
                    parts_.shared.options().client_tracking == policy::ClientTracking::kPays &&
                    !no_local_reads_;
  return asks && NearClient::is_able(request, protocol_);
}

// Nothing: the server answers it.
std::optional<Step> Session::track_here(Request& request) {
  if (!near_mode_.is_on && !may_track_here(request)) return std::nullopt;
  return near().run(request);
}

void Session::follow_near(const Request& request, Step step, bool is_silent) {
  if (!near_mode_.is_on) return near_.reset();
  if (step == Step::kDone && !closed()) near().done(request, is_silent);
}

// Answers the requests of a CachedRead from a copy, and registers the value for the client. Returns
// the number of bytes done; 0: the usual way serves them.
std::size_t Session::take_cached_read(std::string_view bytes, TimePoint now) {
  const bool may_answer = !is_raw() && input_.is_at_start() && user_ == User::kShared &&
                          !reply_off_ && !reply_skip_ && near().keeps_reads() &&
                          reliefs_.passes_plain_gets();
  if (!may_answer) return 0;
  std::vector<std::string_view>& args = parts_.run_args;
  const std::optional<CachedRead> found = CachedRead::find(bytes, args);
  if (!found) return 0;
  Request request(args, found->read);
  request.now = now;
  request.command = parts_.commands.find(args);
  if (request.command == nullptr) return 0;
  request.facts = &parts_.commands.facts(*request.command);
  request.route = request.facts->route;
  if (!reliefs_.serve_with_ttl(parts_, request, CachedRead::kRepliesBefore)) return 0;
  parts_.counters.add(copies::Count::kCommands, 3);  // the read has been counted
  if (!closed()) near().done(request, false);
  return found->size;
}

void Session::give_push(std::string_view push, ReplyQueue::Ticket behind) {
  if (closed()) return;
  within_memory([&] {
    const ClientOutput::Pushed pushed = output_.push(push, behind);
    if (pushed == ClientOutput::Pushed::kMustWait) near_->owe(push);
    if (pushed == ClientOutput::Pushed::kAdded) close_if_output_full();
  });
}

// Well within the max-staleness of every key. Two calls are at least so far apart, also
// if the client has turned tracking off and on in between.
void Session::repeat_pushes_later() {
  if (std::exchange(repeat_due_, true)) return;
  const Nanos bound = parts_.shared.current().shortest_staleness;
  host_.call_later(*this, std::min<Nanos>(bound / 8, Millis(125)), &Session::repeat_pushes);
}

void Session::repeat_pushes() {
  repeat_due_ = false;
  if (near_ != nullptr && !closed()) near_->repeat_pushes();
}

// ---- Transaction::Client

Transaction& Session::transaction() {
  if (transaction_ == nullptr) {
    ClientState& state = *this;
    Transaction::Client& client = *this;
    transaction_ = std::make_unique<Transaction>(parts_, state, client);
  }
  return *transaction_;
}

Step Session::in_transaction(Request& request) {
  if (request.route == Route::kQuit) return run_quit();
  if (request.route == Route::kReset) return run_reset();
  if (request.route == Route::kDebug) return run_script_debug(request);
  if (request.route == Route::kSubscribe && !transaction_failed() &&
      subscriptions().hot().concerns(request)) {
    make_exec_fail();
    return refuse_in_any_state(
        "ERR heatsink: __heatsink__:hot is answered by the proxy: subscribe, and unsubscribe while "
        "subscribed to it, outside MULTI");
  }
  return transaction_->run(request);
}

std::optional<Step> Session::departs(Request& request) {
  const Outcome outcome = reliefs_.departs(request);
  if (outcome == Outcome::kPass) return std::nullopt;
  return step_of(outcome);
}

std::optional<Step> Session::own_connection_for(Request& request) {
  Step step = Step::kDone;
  if (servers_.own_for(request, step) != nullptr) return std::nullopt;
  return step;
}

Forwarded Session::forward_on_own(Request& request, PartRequest of) {
  const std::uint64_t sent_before = traffic_.sent;
  const Step step = forward(request, true, of);
  return {step, traffic_.sent != sent_before};
}

void Session::send_for_part(std::string_view wire, PartRequest of) {
  Pending pending;
  pending.session = this;
  pending.kind = PendingKind::kOwn;
  pending.of = of;
  pending.reveals_keys = false;
  ++traffic_.sent;
  own()->send(wire, std::move(pending));
}

void Session::change_protocol(resp::Protocol protocol) {
  protocol_ = protocol;
  if (own() != nullptr) own()->set_protocol(protocol);
}

// ---- RepeatedReads::Client

bool Session::connect_for(std::string_view request, std::string& error) {
  resp::RequestParser parser(resp::limits_for(request.size()));
  static_cast<void>(parser.parse(request));
  Request parsed(parser.args(), request);
  parsed.command = parts_.commands.find(parsed.args());
  return servers_.lead_to(Destination::of(parsed), error);
}

void Session::send_again(std::string_view request, Pending&& pending) {
  pending.session = this;
  ++traffic_.sent;
  own()->send(request, std::move(pending));
}

void Session::all_repeated() {
  if (!pinned_) servers_.give_back(true);
  resume_later();
}

}  // namespace heatsink::proxy
