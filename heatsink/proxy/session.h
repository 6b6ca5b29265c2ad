// SPDX-License-Identifier: Apache-2.0
// One client: its requests in order, its replies in order, and the state that Redis would keep for
// it.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <deque>
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
#include "heatsink/cache/cache.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/client_state.h"
#include "heatsink/proxy/client_traffic.h"
#include "heatsink/proxy/client_transport.h"
#include "heatsink/proxy/command_facts.h"
#include "heatsink/proxy/memory_budget.h"
#include "heatsink/proxy/moved_client.h"
#include "heatsink/proxy/oversized_request.h"
#include "heatsink/proxy/pending.h"
#include "heatsink/proxy/relief.h"
#include "heatsink/proxy/relief_chain.h"
#include "heatsink/proxy/reply_guess.h"
#include "heatsink/proxy/reply_queue.h"
#include "heatsink/proxy/request.h"
#include "heatsink/proxy/requester.h"
#include "heatsink/proxy/route.h"
#include "heatsink/proxy/session_host.h"
#include "heatsink/proxy/subscription.h"
#include "heatsink/proxy/upstream.h"
#include "heatsink/proxy/wait.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// Belongs to one worker's thread. Lives until it is closed and nothing of it is in flight. It sees
// its client as a ClientTransport, its worker as SessionParts and a SessionHost, and the servers as
// Upstreams: tests play them (tests/simulation/session_fixture.h).
//
// It uses one connection at a time (docs/design/architecture.md): while commands are in flight on
// one, a command for the other waits (Awaited::kDrain), so that effects keep the client's order.
// Replies keep it by ReplyQueue, those of the proxy's own too.
class Session final : public ClientTransport::Listener,
                      public Requester,
                      private ReliefClient,
                      private ClientState {
 public:
  // All outlive it. `peer`: the client's address, for people.
  Session(const SessionParts& parts, SessionHost& host, ClientTransport& client, std::uint64_t id,
          std::string_view peer);
  // Goes on with a session of another worker.
  Session(const SessionParts& parts, SessionHost& host, ClientTransport& client,
          MovedSession&& before);
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
  void resume();      // what it was stalled for may be there now
  void close();       // at once; replies still to come are dropped
  void end_stream();  // the client has left: a stream that may never end is not waited for
  void end_wait();    // likewise of a command that waits (session_waiting.cc)
  std::size_t memory_bytes() const {
    const std::size_t connection = private_ ? private_->memory_bytes() : 0;
    return sizeof(*this) + buffer_bytes() + connection;
  }

  // Requester (session_replies.cc, session_waiting.cc, session_connections.cc).
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) override;
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                  std::string_view kept) override;
  void reply_lost(Pending& pending, bool begun, const std::string& reason) override;
  void told(TimePoint at) override { traffic_.told(at); }
  void hold() override { ++traffic_.holds; }
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override {
    guess_of(pending.read_only).saw(bytes);
  }
  void ask_again(std::string_view request, const Pending& pending) override;
  bool may_ask_again(ReplyQueue::Ticket ticket) const override { return last_effect_ <= ticket; }
  bool congested() const override;
  bool keeps_reply(TimePoint read_at, bool silent) override;
  bool hears_messages() const override { return hears_messages_; }
  bool looks_into_exec() const override { return ClientState::looks_into_exec(); }
  void private_ready() override;
  std::unique_ptr<Upstream> private_failed(const std::string& reason) override;
  void go_on() override;

  // Whether nothing of it is bound to its worker (session_move.cc): nothing in flight, no private
  // connection, no request or reply that waits, no timer.
  bool may_move() const;
  // What another worker's session goes on with; this one is closed. REQUIRES may_move().
  MovedSession move_out();

  std::uint64_t held_bytes() const { return memory_.reported_bytes(); }

  // Called by the worker (session_connections.cc).
  void server_left();     // its connections are lost, and it cannot be reached
  void shared_settled();  // the shared connection it waited for is ready, or known to be down
  void release_hold();
  void answer(std::shared_ptr<const copies::FillAnswer> answer) {
    reliefs_.filled(std::move(answer));
  }
  void barrier_passed(std::uint64_t ticket) { reliefs_.barrier_passed(ticket); }

 private:
  enum class Step : std::uint8_t { kDone, kStall };  // kStall: look at the same request again later
  enum class Mode : std::uint8_t {
    kNormal,
    kRaw,  // MONITOR, SYNC: the upstream says what it wants, when it wants
  };

  static constexpr Nanos kLastWords = Millis(100);  // of a stream whose client has left

  // A read whose reply was too big to share.
  struct Again {
    ReplyQueue::Ticket ticket = ReplyQueue::kNone;
    std::string request;
    std::string error;  // why it has no connection
    copies::TouchedKeys keys;
    bool sent = false;
  };

  ReliefContext context() { return {id_, address_, *this, traffic_, *this}; }
  std::size_t buffer_bytes() const {
    return input_.capacity() + client_.output().capacity() + replies_.kept_bytes() +
           replies_.capacity_bytes() + (waiting_ == nullptr ? 0 : waiting_->kept_bytes());
  }

  // session_io.cc
  void flush_later() {
    if (!std::exchange(flush_due_, true)) host_.flush_later(*this);
  }
  void resume_later() {
    if (!std::exchange(resume_due_, true)) host_.resume_later(*this);
  }
  void set_request_limits();
  void take_requests(std::string_view bytes, TimePoint now);
  void go_on_with_input();
  std::size_t consume(std::string_view bytes, TimePoint now);
  std::size_t serve_run(std::string_view bytes, TimePoint now);
  bool consume_one(std::string_view bytes, TimePoint now, std::size_t& used);
  void look_again(TimePoint now);
  Step look_at(Request& request);
  void refuse_input(std::string_view error);
  bool refuse_tls(std::string_view bytes);
  bool may_parse() const;
  bool may_read() const;
  void forget_client();
  void finish_if_done();
  void choose_reading();
  void close_when_flushed();

  // session_memory.cc
  void note_memory();
  std::size_t kept_at_most(std::size_t part) const;
  void out_of_memory();
  // A buffer of this client's that cannot grow ends this client, and nobody else.
  template <class Work>
  void within_memory(Work work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      out_of_memory();
    }
  }

  // session_dispatch.cc
  Step dispatch(Request& request);
  static Step step_of(Outcome outcome) {  // REQUIRES that it does not pass
    return outcome == Outcome::kAnswered ? Step::kDone : Step::kStall;
  }
  Step carry_out(Request& request);
  Step run(Request& request);
  Step dispatch_raw(Request& request);
  Step forward(Request& request, bool own_connection, PendingKind kind = PendingKind::kForward,
               std::uint32_t number = 0);
  Step send_on(Upstream& connection, Request& request, PendingKind kind, std::uint32_t number);
  Pending make_pending(Request& request, PendingKind kind, std::uint32_t number);
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

  // session_debugger.cc
  Step run_script_debug(Request& request);
  Step run_in_debugger(Request& request);
  Step tell_debugger(Request& request);
  void debug_answered(bool ok, bool wanted);
  bool debugger_fails(std::string_view bytes);

  // session_waiting.cc
  Step forward_waiting(Request& request);
  Step send_waiting(Upstream& connection, Request& request);
  void send_mark(Upstream& connection);
  void mark_answered(std::string_view hello);
  void unblock_answered(std::string_view reply);
  void act_on_wait(Wait::Next next);
  bool unblock();
  bool settle_kept(std::unique_ptr<Wait> wait, ReplyQueue::Ticket ticket, std::string_view wire);
  void offer(std::unique_ptr<Wait> wait, ReplyQueue::Ticket ticket, std::string_view wire);
  void offer_taken();
  void offer_refused();
  void put_back(std::span<const PutBack> requests);
  void put_back_answered(bool ok, std::string_view error);
  void not_put_back(std::string_view why);

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
  void spoil_transaction() override;
  void renew_proof(const Request& request, const copies::Right& right) override;

  bool waits() const;  // session_reliefs.cc

  // session_connections.cc
  Upstream* connection_for(Request& request, bool own_connection, Step& step);
  Upstream* private_connection(Request& request, Step& step);
  Upstream* private_in_any_db(Request& request, Step& step, bool urgent = false);
  Upstream* shared_connection(Request& request, Step& step);
  Upstream* in_right_db(Upstream& connection, Request& request, Step& step);
  bool right_db(Upstream& connection);
  void pin();
  enum class Introduction : std::uint8_t { kDropped, kAwaited };  // its reply
  void introduce(Introduction how = Introduction::kDropped);
  void introduce_if_owed();
  Step no_connection(Request& request, Step step);
  Upstream* without_connection(Request& request, std::string&& reason, Step& step);
  bool acquire(const Destination& to, std::string& error, bool urgent = false);
  void acquire_for(Again& again);
  void give_back(bool clean);
  bool may_leave_private() const;
  bool has_state() const;
  Step stall(Awaited why);
  void ask_next_again();
  Upstream* server_is_down(Request& request, std::string_view reason, Step& step);
  bool closes_when_down() const;
  std::string unreachable(std::string_view reason) const;

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
                     std::optional<std::string_view> name);
  Step authenticate(Request& request, std::string_view user, std::uint32_t protocol,
                    std::optional<std::string_view> name);
  void become(User user, std::string_view name = "default");
  bool can_log_in() const;
  Upstream* strangers_connection(Request& request, Step& step);
  User fresh_user() const;  // who a client is that has said nothing yet
  Step run_client(Request& request);
  bool note_library(const Request& request);
  Step run_client_reply(Request& request);
  Step run_subscribe(Request& request);
  Channels& channels_of(const Request& request);
  Step run_raw(Request& request);
  Step run_wait(Request& request);
  Step run_reset();
  Step run_quit();
  Step reply(std::string_view wire);
  Step reply_error(std::string_view text);

  // session_io.cc
  void note_waiting(std::size_t consumed, TimePoint now);
  void note_answered();
  bool is_answered() const;

  // session_replies.cc
  bool settle_state(Pending& pending, bool ok, const resp::ReplyScanner& reply,
                    std::string_view kept);
  void cut_off_if_deaf();
  void put_reply(ReplyQueue::Ticket ticket, std::string_view bytes);
  void end_reply(ReplyQueue::Ticket ticket);
  void add_reply(std::string_view wire);
  void put_out(std::string_view bytes);
  void note_output();
  void after_reply();
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
  bool closing_ = false;  // after the replies now known, close
  bool input_ended_ = false;
  bool client_lost_ = false;  // it is gone for sure: client_ is closed

  resp::RequestParser parser_;
  ByteBuffer input_;  // what could not be looked at yet
  MemoryShare memory_;
  bool throttled_ = false;   // input_ waits for replies to be taken
  bool flush_due_ = false;   // flush() will be called before the turn ends
  bool resume_due_ = false;  // likewise resume()
  TimePoint waits_since_{};  // when it asked for what is not answered yet; not set: all is

  Awaited stall_ = Awaited::kNothing;
  std::unique_ptr<Request> waiting_;  // that the next one waits behind, if it could not go on
  Mode mode_ = Mode::kNormal;
  OversizedRequest oversized_;
  // Bytes go through that are no requests of their own, and may never end.
  bool in_stream() const { return mode_ != Mode::kNormal || oversized_.goes_on(); }
  ClientTraffic traffic_;
  ReplyQueue::Ticket last_effect_ =
      ReplyQueue::kNone;  // of the last command that was not read-only
  std::uint64_t in_flight() const { return traffic_.in_flight(); }
  // Bytes that one client, and all together, may be owed on a shared connection before what is
  // known to be big goes elsewhere: about a millisecond.
  static constexpr std::uint64_t kOwedMax = 1024 * 1024;
  std::uint64_t owed_ = 0;  // to this client, of Pending::expected
  // Of reads one may be on its way at first, 128 short ones later; of other commands more.
  ReplyGuess reads_{1024 * 1024, 8 * 1024}, others_{8 * 1024, 512};

  std::unique_ptr<Upstream> private_;

  ReplyQueue replies_;
  std::deque<Again> again_;  // of tickets in replies_, in their order
  ReliefChain reliefs_;
  std::unique_ptr<Wait> wait_;  // of a command in flight that may wait
  struct Offered {
    std::unique_ptr<Wait> wait;
    ReplyQueue::Ticket ticket;
    std::string wire;  // the whole reply
  };
  std::unique_ptr<Offered> offered_;
  std::uint32_t putting_back_ = 0;  // requests in flight
};

}  // namespace heatsink::proxy
