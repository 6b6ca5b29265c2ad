// SPDX-License-Identifier: Apache-2.0
// session: serves one client: keeps its requests in order, and the state that Redis would keep.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/memory_reserve.h"
#include "heatsink/cache/cache.h"
#include "heatsink/command/command.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/reply_queue.h"
#include "heatsink/command/reply_sizes.h"
#include "heatsink/command/request.h"
#include "heatsink/command/route.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/client_traffic.h"
#include "heatsink/relief/drain.h"
#include "heatsink/relief/memory_budget.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/relief_chain.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/blocked_command.h"
#include "heatsink/session/carried_session.h"
#include "heatsink/session/client_input.h"
#include "heatsink/session/client_output.h"
#include "heatsink/session/client_transport.h"
#include "heatsink/session/command_effects.h"
#include "heatsink/session/expected_replies.h"
#include "heatsink/session/identity.h"
#include "heatsink/session/moved_client.h"
#include "heatsink/session/near_client.h"
#include "heatsink/session/node_commands.h"
#include "heatsink/session/raw_stream.h"
#include "heatsink/session/refused_requests.h"
#include "heatsink/session/repeated_reads.h"
#include "heatsink/session/scattered_commands.h"
#include "heatsink/session/server_side.h"
#include "heatsink/session/session_carrier.h"
#include "heatsink/session/session_host.h"
#include "heatsink/session/step.h"
#include "heatsink/session/subscriptions.h"
#include "heatsink/session/transaction.h"
#include "heatsink/upstream/connection_owner.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::proxy {

struct CarriedClient;

// Belongs to one worker's thread. Lives until it is closed and has nothing in flight. It sees its
// client as a ClientTransport, its worker as SessionParts and a SessionHost, and the servers as
// Upstreams; tests implement them (tests/simulation/session_fixture.h).
//
// It uses one connection at a time (docs/design/architecture.md): while commands are in flight on
// one connection, a command for the other waits (Awaited::kDrain), so that effects keep the
// client's order. ReplyQueue keeps the order of all replies, including the proxy's own.
class Session final : public ClientTransport::Listener,
                      public ConnectionOwner,
                      private ScatteredCommands::Client,
                      private BlockedCommand::Client,
                      private Subscriptions::Client,
                      private Transaction::Client,
                      private RepeatedReads::Client,
                      private NearClient::Client,
                      private RawStream::Client,
                      private NodeCommands::Client,
                      private ServerSide::Client,
                      private Identity::Client,
                      private RefusedRequests::Client,
                      private ClientInput::Client,
                      private ClientOutput::Client,
                      private ReliefClient,
                      private ClientState {
 public:
  // All outlive it. `peer`: the client's address, for logs.
  Session(const SessionParts& parts, SessionHost& host, ClientTransport& client, std::uint64_t id,
          std::string_view peer);
  // Continues the session of another worker.
  Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
          MovedSession&& before);
  // Continues the session of another process, whose state it takes from `before`. Then call
  // take_connections() and go_on_carried().
  Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
          CarriedSession& before, std::string_view peer);
  ~Session();
  Session(const Session&) = delete;

  std::uint64_t id() const override { return id_; }
  bool closed() const override { return life_ >= Life::kClosed; }
  using ClientState::subscribed;

  // Input and output (session_io.cc).
  void received(std::string_view bytes, TimePoint now) override;
  void input_ended(bool broken) override;
  void writable() override;
  void flush();
  // The same for replies of the server: while a request waits, its reply may go out with them.
  void flush_replies();
  // The output that has been held since this time goes out now (held_outputs.h).
  void send_held(TimePoint since);
  void flush_slice();
  void resume();          // retries the request that was waiting
  void close() override;  // at once; later replies are dropped
  void end_stream();      // the client has left: ends a stream that may never end
  void end_wait();        // the same for a command that waits
  std::size_t memory_bytes() const {
    const std::size_t connection = own() != nullptr ? own()->memory_bytes() : 0;
    return sizeof(*this) + buffer_bytes() + connection;
  }
  // Frees the empty buffers: all of them if the client has done nothing since the last call, else
  // only the large ones. Called about once a second.
  void shrink();

  // Requester (session.cc).
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                  std::string_view kept) override;
  void take_whole(const Pending& pending, std::string_view bytes, TimePoint read_at) override;
  void reply_lost(Pending& pending, bool begun, const std::string& problem) override;
  void note_reply_at(TimePoint at) override { traffic_.note_reply_at(at); }
  void hold() override { ++traffic_.holds; }
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override {
    replies_ahead_.record(pending.read_only, bytes);
  }
  void ask_again(std::string_view request, const Pending& pending) override;
  bool may_ask_again(ReplyQueue::Ticket ticket) const override {
    return output_.is_last_effect(ticket);
  }
  void note_written(redis::UpstreamAddress& node) override { written_.note(node); }
  bool takes_back(Pending& pending, std::string_view error) override;
  bool is_streaming() const override { return input_.oversized().is_active(); }
  bool congested() const override { return output_.is_congested(); }
  Keeps keeps(const Pending& pending, TimePoint read_at) override;
  // Of the servers (session.cc).
  bool receives_messages() const override {
    return subscriptions_ != nullptr && subscriptions_->receives_messages();
  }
  void private_ready() override;
  std::unique_ptr<Upstream> private_failed(const std::string& reason) override;
  void room_available() override;

  // Before the session goes to another worker or process: what its client keeps ends, because the
  // table that knows of it stays here.
  void end_near_names() {
    if (near_ != nullptr) near_->end_all();
  }

  // Whether nothing binds the session to its worker (session_handover.cc): nothing in flight, no
  // private connection, no waiting request or reply, no timer.
  bool may_move() const;
  // Closes this session and returns the state for another worker's session. REQUIRES may_move().
  MovedSession move_out();

  // To another process that reads this layout of CarriedSession (session_handover.cc).
  bool may_hand_over(std::uint32_t layout) const;
  // It cannot be handed over before the client itself ends something.
  bool stays_behind(std::uint32_t layout) const { return carrier().stays_behind(layout); }
  // May become true if the client is held (hold_input()) and what it has begun ends.
  bool settles_when_held(std::uint32_t layout) const {
    return !closed() && !is_blocked() && carrier().may_carry(layout);
  }
  // Takes the state out of this session, for hand_over() or keep(). REQUIRES may_hand_over().
  CarriedSession carry() {
    return carrier().carry(id_, std::move(static_cast<ClientState&>(*this)));
  }
  void keep(CarriedSession&& state) { static_cast<ClientState&>(*this) = std::move(state.state); }
  // Of its connections to servers: the private one, if it has one, and those to nodes.
  std::vector<int> descriptors() const { return carrier().descriptors(); }
  // Closes this session and moves these connections into `to`. REQUIRES carry().
  void hand_over(CarriedClient& to);
  // Processes and reads no further request of the client, so that it comes to rest.
  void hold_input(bool wanted);
  // Neither reads nor sends anything. False: the session cannot go on here; then only hand_over()
  // and destroy it.
  bool take_connections(CarriedClient& came);
  void go_on_carried(const CarriedSession& before);  // REQUIRES take_connections()

  // While the proxy drains (session_io.cc).
  Stay stays() const;
  // The client may only end what it has begun: no further request is read. May be called again.
  void finish();
  // Ends the output and drops what the client still sends, until it closes its end or close() is
  // called. REQUIRES stays() == kAtRest or kSubscription.
  void leave();
  // Ends a blocking command on the server: the client gets the reply of one that timed out, or what
  // it was given in this moment.
  void end_wait_as_timed_out();

  std::uint64_t held_bytes() const { return memory_.reported_bytes(); }

  // Called by the worker. The first two: see ServerSide.
  void server_moved() {
    if (!closed()) servers_.server_moved();
  }
  void node_left(const redis::UpstreamAddress& server) {
    if (!closed()) servers_.node_left(server);
  }
  void server_left();     // the server is unreachable, and its connections are lost
  void shared_decided();  // the shared connection that it waited for is ready, or known to be down
  void release_hold();
  void answer(std::shared_ptr<const copies::FillAnswer> answer) {
    reliefs_.filled(std::move(answer));
    note_commands();
  }
  void policy_changed() { reliefs_.policy_changed(); }
  void barrier_passed(std::uint64_t ticket) {
    reliefs_.barrier_passed(ticket);
    note_commands();
  }

 private:
  // How long a stream may go on after its client has left.
  static constexpr Nanos kStreamEndTime = Millis(100);

  Session(const SessionParts& parts, SessionHost& host, ClientTransport& client, std::uint64_t id,
          std::uint32_t address, ClientState&& state, const ExpectedReplies& replies_ahead = {});
  ReliefContext context() { return {id_, address_, *this, traffic_, *this}; }
  std::size_t buffer_bytes() const {
    return input_.memory() + output_.memory_bytes() +
           (repeated_ == nullptr ? 0 : repeated_->bytes()) +
           (transaction_ == nullptr ? 0 : transaction_->bytes()) +
           (scattered_ == nullptr ? 0 : scattered_->bytes()) +
           (subscriptions_ == nullptr ? 0 : subscriptions_->bytes()) +
           (near_ == nullptr ? 0 : near_->bytes()) + reliefs_.kept_bytes();
  }

  // session_io.cc
  void flush_or_hold();
  void resume_later() {
    if (!std::exchange(resume_due_, true)) host_.resume_later(*this);
  }
  void set_request_limits();
  // The commands that were counted since another session's turn are this client's.
  void note_commands() {
    parts_.client_commands.note(address_, parts_.counters.read(copies::Count::kCommands));
  }
  void take_requests(std::string_view bytes, TimePoint now);
  void go_on_with_input();
  // ClientInput::Client
  bool may_take() const override;
  bool may_parse() const { return !input_.is_stopped() && may_take(); }
  std::size_t take_run(std::string_view bytes, TimePoint now) override;
  Step take(Request& request) override { return dispatch(request); }
  Step take_oversized(Request& request) override;
  void send_rest(std::string_view bytes) override;
  void rest_is_broken() override;
  void refuse(std::string_view error) override;
  void refuse_tls() override;
  bool may_read() const;
  bool reads_while_finishing() const;
  void forget_client();
  void finish_if_done();
  void choose_reading();
  void close_when_flushed() override;

  // ClientOutput::Client
  void flush_at_end_of_turn() override { host_.flush_later(*this); }
  void flush_in_slices() override { host_.flush_in_slices(*this); }
  void flush_after_a_while() override { host_.hold_output(*this); }
  void memory_changed() override { note_memory(); }

  std::size_t take_cached_read(std::string_view bytes, TimePoint now);  // session_parts.cc
  // session_io.cc, memory
  void note_memory();
  void out_of_memory();
  // If a buffer of this client cannot grow, only this client is closed.
  template <class Work>
  void within_memory(Work work) {
    const NoMemoryReserve may_fail;
    try {
      work();
    } catch (const std::bad_alloc&) {
      out_of_memory();
    }
  }

  // session_dispatch.cc
  Step dispatch(Request& request);
  bool is_simple(const Request& request) const;
  Step carry_out(Request& request);
  Step run(Request& request);
  Step leave_bound();
  Step dispatch_raw(Request& request);
  bool refuses_tracking(const Request& request) const;
  bool may_track_here(const Request& request) const;
  std::optional<Step> track_here(Request& request);
  void follow_near(const Request& request, Step step, bool is_silent);
  Step forward(Request& request, bool own_connection, PartRequest of = {});
  Step send_on(Upstream& connection, Request& request, PartRequest of,
               std::uint32_t number) override;
  Step send_on(Upstream& connection, Request& request, PartRequest of = {}) {
    return send_on(connection, request, of, 0);
  }
  void follow_alone();
  Pending make_pending(Request& request, PartRequest of, std::uint32_t number, bool on_private);
  CommandEffects effects() {
    Pending* const queued = in_multi_ ? &transaction_->effects() : nullptr;
    return {parts_, *this, traffic_, servers_.upstreams(), address_, queued};
  }
  void note_write(std::string_view key, NameHash name, Pending& pending) override {
    effects().note_write(key, name, pending);
  }
  void note_keys(const Request& request, Pending& pending) override {
    effects().note_keys(request, pending);
  }
  bool is_too_long_to_share(const Request& request) const;

  // Transaction::Client (session_parts.cc)
  Transaction& transaction();
  Step in_transaction(Request& request);
  bool is_queueing() const { return transaction_ != nullptr && transaction_->is_queued_here(); }
  bool is_closing() const override { return life_ != Life::kServes; }
  std::optional<Step> departs(Request& request) override;
  std::optional<Step> own_connection_for(Request& request) override;
  Step refuse_without_connection(Request& request) override {
    return no_connection(request, Step::kDone);
  }
  Step send_on_own(Request& request, PartRequest of) override {
    return send_on(*own(), request, of);
  }
  Forwarded forward_on_own(Request& request, PartRequest of) override;
  void send_for_part(std::string_view wire, PartRequest of) override;
  void tell_server(std::initializer_list<std::string_view> args) override {
    if (own() != nullptr) own()->send_own(args);
  }
  void keep_own_connection() override { servers_.pin(); }
  void change_protocol(resp::Protocol protocol) override;
  void queue_subscription(const Request& request, std::size_t index) override {
    subscriptions().queue(request, index);
  }
  void drop_queued_subscriptions() override {
    if (subscriptions_ != nullptr) subscriptions_->drop_queued();
  }
  void subscriptions_executed(const resp::Value* elements) override {
    if (subscriptions_ != nullptr) subscriptions_->executed(elements);
  }

  // ScatteredCommands::Client (session_parts.cc)
  ScatteredCommands& scattered();
  Upstreams& upstreams() override { return servers_.upstreams(); }
  Upstreams& proxys_upstreams() override { return parts_.upstreams; }
  std::optional<Step> before_parts(Request& request) override;
  Upstream* shared_at(const Destination& to, Request& request, Step& step) override;
  bool is_owed_replies() const override { return output_.owes_replies(); }
  Step forward_whole(Request& request) override { return forward(request, false); }
  Step stall_for(Awaited why) override { return stall(why); }
  Step refuse_in_any_state(std::string&& text) override;
  Joined expect_joined(const Request& request, Pending& noted) override;
  void parts_sent() override;
  void parts_ended(Scatter& scatter) override;
  bool closes_for_loss() override;

  // RefusedRequests::Client (session_parts.cc)
  RefusedRequests& refused();
  std::string_view decisive(const Pending& pending, std::string_view line) const override;
  std::string answer_to_refused(const Pending& pending, std::string_view line) const override;
  std::string answer_to_moved(const Pending& pending) const override;
  std::string wire_to_repeat(const Pending& pending) override;
  redis::UpstreamAddress* node_named_by(const topology::Redirect& redirect) override {
    return servers_.upstreams().node_named_by(redirect, *own());
  }
  void undo_sending(Pending& pending) override;
  void answer_instead(Pending& pending, std::string_view wire) override;
  void wait_with(std::unique_ptr<Request> request) override {
    input_.wait_with(std::move(request));
  }
  void look_after(Nanos pause) override;
  void end_pause();
  void select_refused(std::string_view why);

  // RawStream::Client (session_parts.cc)
  RawStream& raw_stream();
  bool is_raw() const { return raw_ != nullptr && raw_->is_on(); }
  void end_near_cache() override;
  bool relay(std::string_view request) override;

  // NearClient::Client (session_parts.cc)
  NearClient& near();
  TimePoint clock() const override { return parts_.loop.clock(); }
  void give_push(std::string_view push, ReplyQueue::Ticket behind) override;
  void repeat_pushes_later() override;
  void give_behind_next(std::string_view push) override { give_push(push, output_.first_owed()); }

  // NodeCommands::Client
  Step forward_to_node(Request& request) override { return forward(request, true); }

  // Subscriptions::Client (session_parts.cc)
  Subscriptions& subscriptions();
  std::shared_ptr<const ClientUser> login_user() const override { return servers_.user(); }
  // Then the proxy queues transactions, and not the server.
  bool has_cluster() const override { return servers_.has_cluster(); }
  bool is_drained() const override { return in_flight() == 0; }
  const redis::UpstreamAddress* own_server() const override {
    return own() != nullptr ? &own()->server() : nullptr;
  }
  std::optional<Step> keep_connection(Request& request) override;
  Step send_subscribing(Request& request, std::uint32_t confirmations) override;
  bool is_paused() const override { return input_.awaited() == Awaited::kPause; }
  void look_later(Nanos pause, Look what) override;
  bool is_between_replies() const override { return output_.is_between_replies(); }
  void give_messages(std::string_view wire) override;
  void confirm(std::string_view wire) override;
  bool restricts() const { return subscriptions_ != nullptr && subscriptions_->restricts(); }
  void look_at_subscriptions();
  void look_at_subscriptions_again();
  bool has_listeners() const {
    return subscriptions_ != nullptr && subscriptions_->has_listeners();
  }

  // RepeatedReads::Client (session_parts.cc)
  bool repeats() const { return repeated_ != nullptr && !repeated_->empty(); }
  bool connect_for(std::string_view request, std::string& error) override;
  bool is_connection_ready() override { return own()->ready() && servers_.is_own_in_right_db(); }
  void send_again(std::string_view request, Pending&& pending) override;
  void all_repeated() override;

  // session_handover.cc
  bool may_carry_wait() const;
  SessionCarrier carrier() const;
  bool go_on_waiting(const CarriedSession::Waiting& before);
  bool queue_again(const QueuedTransaction& before);

  void retry_end_of_wait();
  void offer_taken();
  BlockedCommand& blocked();
  bool is_blocked() const { return blocked_ != nullptr && blocked_->waits(); }
  bool is_offering() const { return blocked_ != nullptr && blocked_->is_offering(); }
  // It neither waits, nor is anything offered or put back.
  bool has_no_blocked_command() const { return blocked_ == nullptr || blocked_->is_idle(); }

  // BlockedCommand::Client
  std::shared_ptr<const topology::SlotMap> slot_map() const override {
    return servers_.upstreams().slot_map();
  }
  Upstream* own_connection() override { return own(); }
  Upstream* connection_beside() override {
    return own() != nullptr ? parts_.upstreams.shared_beside(*own()) : nullptr;
  }
  void lend_name() override { lent_name_ = true; }
  void own_request_sent() override { ++traffic_.sent; }
  Presence presence() const override { return presence_; }
  bool has_ended_unread() const override { return client_.peer_has_ended(); }
  void note_ended() override {
    if (presence_ == Presence::kHere) presence_ = Presence::kEnded;
  }
  void call_later(Nanos pause, Later what) override;
  void look_at_end_of_turn() override { resume_later(); }
  void give_part(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    output_.put(ticket, bytes);
  }
  void give_rest(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void ask_node(ReplyQueue::Ticket ticket, std::string&& request,
                redis::UpstreamAddress& node) override;

  // ReliefClient (session_parts.cc, session.cc)
  void serve(std::string_view wire) override;
  void hold(Request& request, const Relief& by) override;
  Request* held_by(const Relief& relief) override;
  void let_go(const Relief& by) override;
  void hold_until_drained() override;
  bool may_share() const override;
  NextReply next_reply() const override;
  void sent(const Request& request) override;
  Requester& requester() override { return *this; }
  std::uint64_t known_reply_bytes(const Request& request) const override {
    return ExpectedReplies::known_size(request, parts_, db_);
  }
  LatestEffect latest_effect() const override { return output_.latest_effect(); }
  void make_exec_fail() override;
  void renew_right(const Request& request, const copies::Right& right) override {
    servers_.renew_right(request, right, is_blocked());
  }

  bool waits() const;  // session_parts.cc

  // ServerSide::Client
  ConnectionOwner& connection_owner() override { return *this; }
  bool has_more_state() const override {
    return (in_multi_ && transaction_->is_on_server()) || in_stream();
  }
  std::optional<Destination> destination_of_exec() const override {
    if (!is_queueing()) return std::nullopt;
    const std::optional<std::uint16_t> slot = transaction_->slot();
    return slot ? Destination::of_slot(*slot) : Destination::any();
  }
  void map_changed() override {
    if (input_.is_at_start()) set_request_limits();
  }

  // Identity::Client
  bool must_keep_user() const override { return has_listeners() || in_stream(); }
  void user_changed() override { set_request_limits(); }
  Identity identity() { return {parts_, *this, servers_, *this}; }

  // session.cc
  Upstream* own() const { return servers_.own(); }
  bool has_state() const override { return servers_.has_state(); }
  bool is_bound() const override { return servers_.is_bound(); }
  void introduce_if_owed() override { servers_.introduce_if_owed(); }
  bool note_library(const Request& request) override { return identity().note_library(request); }
  Step no_connection(Request& request, Step step);
  Step stall(Awaited why);
  bool awaits_server() const;
  bool closes_when_down() const override;
  Step run_presented(Request& request);
  void put_rewritten(const Pending& pending, std::string_view reply);

  Upstream* connection_for_oversized(Request& request, const OversizedRequest::Beginning& beginning,
                                     Step& step);

  Step run_script_debug(const Request& request);
  Step run_reset();
  Step run_quit();
  Step reply(std::string_view wire) override;
  Step reply_error(std::string_view text) override;

  // session_io.cc
  void note_waiting(std::size_t consumed, TimePoint now);
  void note_answered();
  bool is_answered() const;

  // session.cc
  bool settle_state(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                    std::string_view kept);
  void close_if_output_full();
  // A request in flight has ended. False: the client has left.
  bool request_ended(std::uint32_t expected) {
    ++traffic_.received;
    replies_ahead_.ended(expected);
    if (closed() && in_flight() == 0) host_.destroy_at_end_of_turn(*this);
    return !closed();
  }
  void end_near_names_at_once();
  void repeat_pushes();
  void after_reply();
  void fail_in_flight(const Pending& pending, const std::string& problem, bool is_heard);
  bool take_silence() { return std::exchange(reply_skip_, false) || reply_off_; }

  const SessionParts& parts_;
  SessionHost& host_;
  const std::uint64_t id_;
  ClientTransport& client_;
  const std::uint32_t address_;  // its number in ClientNames
  // What the proxy does with the client.
  enum class Life : std::uint8_t {
    kServes,
    kClosing,   // closes after the replies that are already known
    kClosed,    // goes when nothing is in flight
    kMovedOut,  // closed, and another session continues it
  };
  // What a drain has asked for.
  enum class Drain : std::uint8_t { kNone, kFinishes, kLeaves };  // see finish(), leave()
  Life life_ = Life::kServes;
  Presence presence_ = Presence::kHere;  // what the client has ended
  Drain drain_ = Drain::kNone;
  bool used_ = true;         // since the last shrink()
  bool repeat_due_ = false;  // repeat_pushes() runs in a while
  bool resume_due_ = false;  // resume() runs before the turn ends

  MemoryShare memory_;
  TimePoint waits_since_{};  // when it sent the oldest unanswered request; unset: all are answered

  // The client's bytes are not separate requests now, and may never end.
  bool in_stream() const { return is_raw() || input_.oversized().is_active(); }
  ClientTraffic traffic_;
  std::uint64_t in_flight() const { return traffic_.in_flight(); }
  ExpectedReplies replies_ahead_;

  ServerSide servers_;
  ClientInput input_;
  ClientOutput output_;
  // In front of a cluster:
  std::unique_ptr<ScatteredCommands> scattered_;  // null: no such command so far
  std::unique_ptr<RefusedRequests> refused_;      // null: none so far

  ReliefChain reliefs_;
  // Null: no such command so far.
  std::unique_ptr<BlockedCommand> blocked_;
  std::unique_ptr<Subscriptions> subscriptions_;
  std::unique_ptr<Transaction> transaction_;
  std::unique_ptr<NearClient> near_;
  std::unique_ptr<RawStream> raw_;
  std::unique_ptr<RepeatedReads> repeated_;
};

}  // namespace heatsink::proxy
