// SPDX-License-Identifier: Apache-2.0
// session: serves one client: keeps its requests in order, and the state that Redis would keep.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <list>
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
#include "heatsink/command/oversized_request.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/reply_guess.h"
#include "heatsink/command/reply_queue.h"
#include "heatsink/command/request.h"
#include "heatsink/command/route.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/client_traffic.h"
#include "heatsink/relief/drain.h"
#include "heatsink/relief/gets_ahead.h"
#include "heatsink/relief/memory_budget.h"
#include "heatsink/relief/relief.h"
#include "heatsink/relief/relief_chain.h"
#include "heatsink/relief/subscription.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/blocked_command.h"
#include "heatsink/session/carried_session.h"
#include "heatsink/session/client_transport.h"
#include "heatsink/session/moved_client.h"
#include "heatsink/session/node_listeners.h"
#include "heatsink/session/queued_transaction.h"
#include "heatsink/session/scattered_commands.h"
#include "heatsink/session/session_host.h"
#include "heatsink/session/step.h"
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
                      private NodeListeners::Owner,
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
  bool closed() const override { return closed_; }
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
  void resume();          // retries the request that was waiting
  void close() override;  // at once; later replies are dropped
  void end_stream();      // the client has left: ends a stream that may never end
  void end_wait();        // the same for a command that waits (session_waiting.cc)
  std::size_t memory_bytes() const {
    const std::size_t connection = private_ ? private_->memory_bytes() : 0;
    return sizeof(*this) + buffer_bytes() + connection;
  }
  // Frees the empty buffers: all of them if the client has done nothing since the last call, else
  // only the large ones. Called about once a second (session_memory.cc).
  void shrink();

  // Requester (session_replies.cc, session_waiting.cc, session_connections.cc).
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                  std::string_view kept) override;
  void take_whole(const Pending& pending, std::string_view bytes, TimePoint read_at) override;
  void reply_lost(Pending& pending, bool begun, const std::string& problem) override;
  void note_reply_at(TimePoint at) override { traffic_.note_reply_at(at); }
  void hold() override { ++traffic_.holds; }
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override {
    guess_of(pending.read_only).record(bytes);
  }
  void ask_again(std::string_view request, const Pending& pending) override;
  bool may_ask_again(ReplyQueue::Ticket ticket) const override { return last_effect_ <= ticket; }
  void note_written(redis::UpstreamAddress& node) override { written_.note(node); }
  bool takes_back(Pending& pending, std::string_view error) override;  // session_redirects.cc
  bool is_streaming() const override { return oversized_.is_active(); }
  bool congested() const override;
  bool keeps_reply(TimePoint read_at, bool silent) override;
  bool receives_messages() const override { return receives_messages_; }
  bool needs_exec_reply() const override { return ClientState::needs_exec_reply(); }
  void private_ready() override;
  std::unique_ptr<Upstream> private_failed(const std::string& reason) override;
  void room_available() override;

  // Whether nothing binds the session to its worker (session_move.cc): nothing in flight, no
  // private connection, no waiting request or reply, no timer.
  bool may_move() const;
  // Closes this session and returns the state for another worker's session. REQUIRES may_move().
  MovedSession move_out();

  // To another process that reads this layout of CarriedSession (session_handover.cc).
  bool may_hand_over(std::uint32_t layout) const;
  // It cannot be handed over before the client itself ends something.
  bool stays_behind(std::uint32_t layout) const;
  // May become true if the client is held (hold_input()) and what it has begun ends.
  bool settles_when_held(std::uint32_t layout) const {
    return !closed_ && !is_blocked() && may_carry_state(layout);
  }
  // Takes the state out of this session, for hand_over() or keep(). REQUIRES may_hand_over().
  CarriedSession carry();
  void keep(CarriedSession&& state) { static_cast<ClientState&>(*this) = std::move(state.state); }
  // Of its connections to servers: the private one, if it has one, and those to nodes.
  std::vector<int> descriptors() const;
  // Closes this session and moves these connections into `to`. REQUIRES carry().
  void hand_over(CarriedClient& to);
  // Processes and reads no further request of the client, so that it comes to rest.
  void hold_input(bool wanted);
  // Neither reads nor sends anything. False: the session cannot go on here; then only hand_over()
  // and destroy it.
  bool take_connections(CarriedClient& came);
  void go_on_carried(const CarriedSession& before);  // REQUIRES take_connections()

  // While the proxy drains (session_drain.cc).
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

  // Called by the worker (session_connections.cc).
  void server_moved();  // closes a private connection to a server that is not used any more
  // Ends what a node owes that is no master of the cluster any more.
  void node_left(const redis::UpstreamAddress& server);
  void server_left();     // the server is unreachable, and its connections are lost
  void shared_settled();  // the shared connection that it waited for is ready, or known to be down
  void release_hold();
  void answer(std::shared_ptr<const copies::FillAnswer> answer) {
    reliefs_.filled(std::move(answer));
  }
  void policy_changed() { reliefs_.policy_changed(); }
  void barrier_passed(std::uint64_t ticket) { reliefs_.barrier_passed(ticket); }

 private:
  enum class Mode : std::uint8_t {
    kNormal,
    kRaw,  // MONITOR, SYNC: the server sends what it wants, when it wants
  };

  // How long a stream may go on after its client has left.
  static constexpr Nanos kStreamEndTime = Millis(100);

  // A read that is sent again, because its reply was too big to share.
  struct Again {
    ReplyQueue::Ticket ticket = ReplyQueue::kNone;
    std::string request;
    std::string error;     // why there is no connection
    bool is_lost = false;  // the connection was lost, or could not be opened
    copies::TouchedKeys keys;
    bool sent = false;
  };

  ReliefContext context() { return {id_, address_, *this, traffic_, *this}; }
  std::size_t buffer_bytes() const {
    return input_.capacity() + client_.output().capacity() + replies_.kept_bytes() +
           replies_.capacity_bytes() + (waiting_ == nullptr ? 0 : waiting_->kept_bytes()) +
           parser_.capacity_bytes() + get_args_.capacity() * sizeof(std::string_view) +
           ClientState::memory_bytes() + (scattered_ == nullptr ? 0 : scattered_->bytes()) +
           heard_.capacity() + reliefs_.kept_bytes() + (queued_ == nullptr ? 0 : queued_->bytes);
  }

  // session_io.cc
  void flush_later() {
    if (!std::exchange(flush_due_, true)) host_.flush_later(*this);
  }
  void flush_or_hold();
  void resume_later() {
    if (!std::exchange(resume_due_, true)) host_.resume_later(*this);
  }
  void set_request_limits();
  void take_requests(std::string_view bytes, TimePoint now);
  void go_on_with_input();
  std::size_t consume(std::string_view bytes, TimePoint now);
  bool consume_one(std::string_view bytes, TimePoint now, std::size_t& used);
  void look_again(TimePoint now);
  Step look_at(Request& request);
  void refuse_input(std::string_view error);
  bool refuse_tls(std::string_view bytes);
  bool may_parse() const;
  bool may_read() const;
  bool reads_while_finishing() const;
  void forget_client();
  void finish_if_done();
  void choose_reading();
  void close_when_flushed();

  // session_gets.cc
  std::size_t take_gets(std::string_view bytes, TimePoint now);
  bool takes_runs() const;
  bool send_cold(const GetsAhead::Get& get, const CommandFacts& facts, TimePoint now);

  // session_memory.cc
  void note_memory();
  void note_reply_memory();
  // This part of proxy.client-output-limit; only a fair share while memory is short, so that the
  // client's socket fills instead. Inline, because division by a constant costs next to nothing.
  std::size_t kept_at_most(std::size_t part) const {
    const std::size_t limit = parts_.shared.options().client_output_max.count / part;
    return parts_.shared.memory.is_tight() ? std::min(limit, MemoryBudget::kFairBytes) : limit;
  }
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
  bool may_exchange(const Request& request);
  Step forward(Request& request, bool own_connection, PendingKind kind = PendingKind::kForward,
               std::uint32_t number = 0);
  Upstream* ready_connection(Request& request);
  Step send_on(Upstream& connection, Request& request, PendingKind kind, std::uint32_t number);
  void prepare_script(Upstream& connection, const Request& request);
  void follow_alone();
  Pending make_pending(Request& request, PendingKind kind, std::uint32_t number, bool on_private);
  void note_write(std::string_view key, NameHash name, bool queued, Pending& pending) override;
  void note_keys(const Request& request, Pending& pending);
  void expect_reply(Request& request);
  std::uint64_t known_size(const Request& request) const;
  bool is_too_long_to_share(const Request& request) const;
  ReplyGuess& guess_of(bool read) { return read ? reads_ : others_; }

  // session_transaction.cc
  Step run_multi(Request& request);
  Step run_watch(Request& request);
  Step run_unwatch(Request& request);
  Step in_transaction(Request& request);
  Step end_transaction(Request& request);
  Step in_failed_transaction(Request& request);
  Step begin_failed_transaction(std::string&& why);
  void forget_transaction();
  void queue_subscription(const Request& request);
  void queue_hello(const Request& request);

  // session_queue.cc
  bool queues_transactions();
  Step begin_queue(Request& request);
  Step queue(Request& request);
  Step execute_queue(Request& request);
  Step discard_queue();
  Step refuse_to_queue(std::string&& why);
  bool takes_slot(const Request& request);
  void send_queued(Upstream& connection, std::string_view wire);
  bool note_queue_error(Pending& pending, std::string_view line);
  void drop_queue();

  // ScatteredCommands::Client (session_scattered.cc)
  ScatteredCommands& scattered();
  Upstreams& upstreams() override { return *upstreams_; }
  Upstreams& proxys_upstreams() override { return parts_.upstreams; }
  std::optional<Step> before_parts(Request& request) override;
  Upstream* shared_at(const Destination& to, Request& request, Step& step) override;
  bool is_owed_replies() const override { return !replies_.empty(); }
  Step forward_whole(Request& request) override { return forward(request, false); }
  Step stall_for(Awaited why) override { return stall(why); }
  Step refuse_in_any_state(std::string&& text) override;
  Joined expect_joined(const Request& request, Pending& noted) override;
  void scatter_begins() override { ++traffic_.sent; }
  void parts_sent() override;
  void parts_ended(Scatter& scatter) override;
  bool closes_for_loss() override;
  void end_joined(ReplyQueue::Ticket ticket, bool silent, std::string_view wire) override;

  // session_redirects.cc
  bool must_drain_first();
  std::string wire_to_repeat(const Pending& pending);
  std::string wait_for_time_left() const;
  void undo_sending(Pending& pending);
  void repeat(std::string&& wire, redis::UpstreamAddress* to, bool asking);
  void end_pause();
  bool answer_aborted(Pending& pending);
  bool answer_refused(Pending& pending);
  bool answer_exec(Pending& pending, const ByteBuffer& wire);
  void forget_repeat(PendingKind kind);
  void select_refused(std::string_view why);

  // session_nodes.cc
  static bool asks_nodes(const Request& request);
  Step run_nodes(Request& request);
  Step run_at_node(Request& request, const topology::SlotMap& map);
  bool end_node_wait(const Pending& pending, std::string_view wire);

  // session_listeners.cc
  bool needs_all_nodes(const Request& request);
  NodeListeners& listeners();
  bool other_nodes_listen(const Request& request);
  bool waited_for_nodes();
  Step run_shard_subscribe(Request& request);
  Step drop_shard_channels(Request& request);
  bool refuses_as_subscriber(Request& request);
  void heard(const resp::Value& message, std::string_view wire) override;
  void hand_on_heard();
  void listeners_changed() override;
  void listener_lost() override;
  void look_later(Nanos pause);
  void look_at_listeners();
  void place_listeners();
  void close_listeners();
  void listen_again();

  // session_handover.cc
  bool may_carry_wait() const;
  bool may_carry_state(std::uint32_t layout) const;
  bool is_too_long_to_carry() const;
  bool needs_private() const;
  bool go_on_waiting(const CarriedSession::Waiting& before);
  bool queue_again(const QueuedTransaction& before);
  void note_all_written();

  // session_waiting.cc
  Step forward_waiting(Request& request);
  Step send_waiting(Upstream& connection, Request& request);
  void retry_end_of_wait();
  void offer_taken();
  BlockedCommand& blocked();
  bool is_blocked() const { return blocked_ != nullptr && blocked_->waits(); }
  bool is_offering() const { return blocked_ != nullptr && blocked_->is_offering(); }
  // It neither waits, nor is anything offered or put back.
  bool has_no_blocked_command() const { return blocked_ == nullptr || blocked_->is_idle(); }

  // BlockedCommand::Client
  Upstream* own_connection() override { return private_.get(); }
  Upstream* connection_beside() override {
    return private_ ? parts_.upstreams.shared_beside(*private_) : nullptr;
  }
  void lend_name() override { lent_name_ = true; }
  void own_request_sent() override { ++traffic_.sent; }
  Presence presence() const override;
  bool has_ended_unread() const override { return client_.peer_has_ended(); }
  bool is_timed_out() const override { return times_out_; }
  void note_ended() override { input_ended_ = true; }
  void call_later(Nanos pause, Later what) override;
  void look_at_end_of_turn() override { resume_later(); }
  void give_part(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    put_reply(ticket, bytes);
  }
  void give_rest(ReplyQueue::Ticket ticket, std::string_view bytes) override;

  // ReliefClient (session_reliefs.cc, session_connections.cc, session_replies.cc)
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
    return known_size(request);
  }
  LatestEffect latest_effect() const override {
    return {last_effect_, replies_.owes(last_effect_)};
  }
  void make_exec_fail() override;
  void renew_right(const Request& request, const copies::Right& right) override;

  bool waits() const;  // session_reliefs.cc

  // session_connections.cc
  Upstream* connection_for(Request& request, bool own_connection, Step& step);
  Upstream* private_connection(Request& request, Step& step);
  Upstream* private_in_any_db(Request& request, Step& step, bool urgent = false);
  Upstream* shared_connection(Request& request, Step& step);
  Upstream* in_right_db(Upstream& connection, Request& request, Step& step);
  bool right_db(Upstream& connection);
  void pin();
  enum class Introduction : std::uint8_t { kDropped, kAwaited };  // what happens to its reply
  void introduce(Introduction how = Introduction::kDropped);
  void introduce_if_owed();
  Step no_connection(Request& request, Step step);
  Upstream* without_connection(Request& request, std::string&& reason, Step& step);
  bool acquire(const Destination& to, std::string& error, bool urgent = false);
  void acquire_for(Again& again);
  void give_back(bool clean);
  bool is_elsewhere(const Destination& to) const;  // REQUIRES private_
  Destination destination_of(const Request& request) const;
  bool may_leave_private() const;
  bool has_state() const;
  // New connections have the login of this client's user.
  bool has_login() const {
    return user_ == User::kShared || (user_ == User::kOther && client_user_ != nullptr);
  }
  // The user's login is on the private connection only.
  bool is_bound() const { return user_ == User::kOther && client_user_ == nullptr; }
  Step stall(Awaited why);
  void ask_next_again();
  Upstream* without_shared(Request& request, resp::Protocol protocol, const Destination& to,
                           const Upstreams::Shared& shared, Step& step);
  bool finds_no_server(Request& request, const Destination& to, Step& step);
  bool awaits_server() const;
  Upstream* server_is_down(Request& request, std::string_view problem, Step& step);
  Upstream* login_is_refused(Request& request, std::string_view problem, Step& step);
  bool closes_when_down() const;

  // session_presented.cc
  bool presents_cluster(const Request& request) const;
  Step run_presented(Request& request);
  bool rewrites_reply(const Request& request, PendingKind kind) const;
  void put_rewritten(const Pending& pending, std::string_view reply);

  // session_oversized.cc
  Step begin_oversized(Request& request);
  Upstream* connection_for_oversized(Request& request, const OversizedRequest::Beginning& beginning,
                                     Step& step);
  std::size_t stream_on(std::string_view bytes);

  // session_commands.cc
  Step run_select(Request& request);
  Step run_auth(Request& request);
  Step run_hello(Request& request);
  Step hello_locally(Request& request, resp::Protocol protocol,
                     const std::optional<std::string>& name);
  Step authenticate(Request& request, std::uint32_t protocol, LoginAsked&& asked);
  bool is_user(std::string_view name) const;
  std::string why_not_as(const redis::Credentials& asked) const;
  Step forward_for_refusal(Request& request);
  void become(User user, std::string_view name = "default");
  bool can_log_in() const;
  Upstream* unauthenticated_connection(Request& request, Step& step);
  User fresh_user() const;  // the user of a client that has not logged in
  void become_fresh();
  void use_servers_of(const redis::Credentials& credentials);
  Step run_client(Request& request);
  bool note_library(const Request& request);
  Step run_client_reply(Request& request);
  Step run_subscribe(Request& request);
  Channels& channels_of(const Request& request);
  Step run_raw(Request& request);
  Step run_script_debug(const Request& request);
  Step run_wait(Request& request);
  std::optional<Step> before_wait(Upstream& connection, Request& request);
  bool write_before_wait(Upstream& connection);
  Step run_reset();
  Step run_quit();
  Step reply(std::string_view wire);
  Step reply_error(std::string_view text) override;

  // session_io.cc
  void note_waiting(std::size_t consumed, TimePoint now);
  void note_answered();
  bool is_answered() const;

  // session_replies.cc
  bool settle_state(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                    std::string_view kept);
  void close_if_output_full();
  void put_reply(ReplyQueue::Ticket ticket, std::string_view bytes);
  void end_reply(ReplyQueue::Ticket ticket);
  void add_reply(std::string_view wire);
  void put_out(std::string_view bytes);
  void note_output();
  void after_reply();
  void fail_in_flight(const Pending& pending, const std::string& problem, bool is_heard);
  void authenticated(const Pending& pending, bool ok);
  void subscription_done(bool ok);
  void executed(bool ok, const resp::ReplyScanner& reply, std::string_view wire);
  void follow_protocol();
  bool take_silence() { return std::exchange(reply_skip_, false) || reply_off_; }

  const SessionParts& parts_;
  SessionHost& host_;
  const std::uint64_t id_;
  const std::uint32_t address_;  // its number in ClientNames
  ClientTransport& client_;
  bool closed_ = false;
  bool moved_out_ = false;
  bool closing_ = false;  // close after the replies that are already known
  bool input_ended_ = false;
  bool client_lost_ = false;  // the client is certainly gone: client_ is closed
  bool finishes_ = false;     // see finish(), leave(), end_wait_as_timed_out()
  bool leaves_ = false;
  bool times_out_ = false;
  bool holds_input_ = false;  // see hold_input()

  resp::RequestParser parser_;
  std::vector<std::string_view> get_args_;  // of the request that send_cold() looks at
  ByteBuffer input_;                        // bytes that could not be processed yet
  MemoryShare memory_;
  std::size_t noted_reply_bytes_ = 0;  // at the last note_reply_memory()
  bool throttled_ = false;             // input_ waits until the client takes replies
  bool used_ = true;                   // since the last shrink()
  bool flush_due_ = false;             // flush() runs before the turn ends
  bool resume_due_ = false;            // resume() runs before the turn ends
  bool is_in_batch_ = false;           // the client sent others together with the request looked at
  TimePoint held_since_{};   // the output waits for replies of the server; unset: it does not
  TimePoint waits_since_{};  // when it sent the oldest unanswered request; unset: all are answered

  Awaited stall_ = Awaited::kNothing;
  std::unique_ptr<Request> waiting_;  // the request that could not go on; later ones wait behind it
  Mode mode_ = Mode::kNormal;
  OversizedRequest oversized_;
  // The client's bytes are not separate requests now, and may never end.
  bool in_stream() const { return mode_ != Mode::kNormal || oversized_.is_active(); }
  ClientTraffic traffic_;
  ReplyQueue::Ticket last_effect_ = ReplyQueue::kNone;  // the last command that was not read-only
  std::uint64_t in_flight() const { return traffic_.in_flight(); }
  // How many reply bytes one client, or all together, may be owed on a shared connection before big
  // replies go elsewhere: about a millisecond.
  static constexpr std::uint64_t kOwedMax = 1024 * 1024;
  std::uint64_t owed_ = 0;  // owed to this client: the sum of Pending::expected
  // At first one read may be in flight, later 128 short ones; more of other commands.
  ReplyGuess reads_{1024 * 1024, 8 * 1024}, others_{8 * 1024, 512};

  std::unique_ptr<Upstream> private_;
  Upstreams* upstreams_ = &parts_.upstreams;  // with the login of this client's user

  // In front of a cluster:
  std::shared_ptr<const ClientUser> client_user_;  // null: the proxy's, or is_bound()
  std::uint64_t map_version_ = 0;              // of the requests in flight, see must_drain_first()
  std::unique_ptr<QueuedTransaction> queued_;  // from MULTI until EXEC is answered
  std::optional<std::uint16_t> watched_slot_;
  std::unique_ptr<NodeWait> node_wait_;  // while WAIT asks several nodes
  std::unique_ptr<NodeListeners> listeners_;
  ByteBuffer heard_;             // their messages, until the output is between replies
  TimePoint listening_since_{};  // when a subscription began to wait for them
  bool looks_later_ = false;     // look_at_listeners() is due
  // A WATCH in flight that can be sent again; "": none.
  std::string last_state_request_;
  std::unique_ptr<ScatteredCommands> scattered_;  // null: no such command so far
  std::uint8_t taken_back_ = 0;                   // how often the last such request was sent again

  ReplyQueue replies_;
  std::list<Again> again_;  // of tickets in replies_, in their order
  bool resumes_after_again_ = false;
  ReliefChain reliefs_;
  std::unique_ptr<BlockedCommand> blocked_;  // null: no such command so far
};

}  // namespace heatsink::proxy
