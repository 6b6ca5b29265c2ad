// SPDX-License-Identifier: Apache-2.0
// Runs one thread of the proxy: its clients, its connections to the server, its access counts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/base/sign_of_life.h"
#include "heatsink/command/known_commands.h"
#include "heatsink/command/pending.h"
#include "heatsink/copies/keeper_listener.h"
#include "heatsink/copies/paced_timers.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/copies/read_hits.h"
#include "heatsink/copies/worker_copies.h"
#include "heatsink/detect/detect.h"
#include "heatsink/handover/handover.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/client_balancer.h"
#include "heatsink/proxy/memory_use.h"
#include "heatsink/proxy/tls_handshakes.h"
#include "heatsink/relief/access_counter.h"
#include "heatsink/relief/admission.h"
#include "heatsink/relief/coalescing.h"
#include "heatsink/relief/drain.h"
#include "heatsink/relief/shared_state.h"
#include "heatsink/relief/spread_keys.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/carried_client.h"
#include "heatsink/session/client_connection.h"
#include "heatsink/session/latencies.h"
#include "heatsink/session/session.h"
#include "heatsink/session/session_host.h"
#include "heatsink/upstream/big_replies.h"
#include "heatsink/upstream/held_outputs.h"
#include "heatsink/upstream/replica_servers.h"
#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"
#include "heatsink/upstream/user_servers.h"

namespace heatsink::copies {
class CopyKeeper;
}  // namespace heatsink::copies

namespace heatsink::proxy {

// Belongs to its own thread, except where a comment says otherwise.
class Worker final : public Upstream::Host,
                     public copies::KeeperListener,
                     public BalancedWorker,
                     private SessionHost,
                     private ClientConnection::Host,
                     private TlsHandshakes::Owner,
                     private Upstreams::Host {
 public:
  // `listener`: unset if all clients come by serve(). `poller`: null for the kernel's.
  Worker(SharedState& shared, copies::CopyKeeper& keeper, std::size_t index, net::Fd listener,
         std::unique_ptr<net::Poller> poller = nullptr);
  ~Worker();
  Worker(const Worker&) = delete;

  // Lets clients move between workers. Called before begin(). `balancer` outlives the thread.
  void balance_by(ClientBalancer& balancer) { balancer_ = &balancer; }
  void begin();  // before loop() runs
  void run();    // begin(), until stop()
  void stop();   // any thread
  // Any thread: the worker follows NodeState::current(), and then calls `done`, in its own thread.
  // From then on, and for each request that arrives later, what the configuration before allowed
  // does not count.
  void adopt_policy(std::function<void()> done);
  void serve(net::Stream client, const std::string& peer);                 // an accepted connection
  void listen_on(net::Fd listener);                                        // before begin()
  const copies::Counters& counters() const override { return counters_; }  // any thread
  const copies::ReadHits& read_hits() const { return read_hits_; }         // any thread
  const copies::DurationHistogram* client_latency() const override { return &latencies_.client; }
  const Latencies& latencies() const { return latencies_; }         // any thread
  const WorkerMemory& memory() const { return memory_; }            // any thread
  const SignOfLife& sign_of_life() const { return sign_of_life_; }  // any thread
  net::Mailbox::Counts mailbox() const { return loop_.mailbox(); }  // any thread
  std::size_t index() const { return index_; }

  // For its connections and its coalescing:
  SharedState& shared() { return shared_; }
  net::EventLoop& loop() { return loop_; }
  copies::Counters& count() { return counters_; }
  char* scratch() override { return scratch_.get(); }
  Upstreams& upstreams() { return *upstreams_; }
  copies::WorkerCopies& copies() { return copies_; }

  // Any thread:
  void take_client(std::uint64_t id, net::Stream stream, const std::string& peer) override;
  void take_moved(MovedClient client) override;
  void give_clients(std::size_t count, BalancedWorker& to) override;
  void deliver(std::vector<std::shared_ptr<const copies::FillAnswer>> answers) override;
  void release(std::uint64_t session_id, std::uint64_t ticket) override;
  void set_commands(std::shared_ptr<const resp::CommandTable> commands) override;
  // Stops accepting and closes the clients as drain.h says; `limit` > 0. The worker that has done
  // so counts down SharedState::drain.workers_to_begin.
  void begin_drain(Nanos limit);

  void accept_later() { accepts_ = false; }  // before begin(): not until set_accepting()
  // To and from another process (worker_handover.cc). Any thread.
  void set_accepting(bool wanted, std::function<void()> done);
  // Gives the clients to the process behind `to`, which outlives it, until end_hand_over().
  // `version`: of the hand-over, which that process knows.
  void hand_over(const handover::Channel& to, std::uint32_t version);
  void taken(std::uint64_t token);      // that process has the client: forgets it
  void refused(std::uint64_t token);    // that process has not touched it: it goes on here
  void end_hand_over(bool takes_back);  // `takes_back`: clients that it may not have go on here
  // Clients that hand_over() has still to give, or whose receipt is not confirmed. Those that stay
  // (Session::stays_behind()) do not count.
  std::uint64_t to_hand_over() const { return to_give_.load(); }
  // Calls `answer` before the client is served, or when it cannot be: then nothing was read from
  // its connections, nothing was sent, and they are closed here.
  void adopt(CarriedClient came, std::function<void(bool)> answer);
  static std::size_t index_in(std::uint64_t token) {
    return static_cast<std::size_t>(token >> kTokenShift);
  }

  void flush_later(Upstream& upstream) override {
    if (upstream.mark_dirty()) dirty_upstreams_.push_back(&upstream);
  }

 private:
  // One client. The session is destroyed before its connection, and closes it.
  struct Client {
    Client(Worker& worker, std::uint64_t id, net::Stream stream, std::string_view peer)
        : connection(worker, worker.loop_, std::move(stream), id),
          session(worker.parts_, worker, connection, id, peer) {}
    Client(Worker& worker, MovedClient&& moved)
        : connection(worker, worker.loop_, std::move(moved.stream), moved.session.id),
          session(worker.parts_, worker, connection, std::move(moved.session)) {}
    Client(Worker& worker, CarriedClient& came, std::string_view peer)
        : connection(worker, worker.loop_, std::move(came.client), came.session.id),
          session(worker.parts_, worker, connection, came.session, peer) {}

    ClientConnection connection;
    Session session;
    std::size_t drain_rank = static_cast<std::size_t>(-1);  // its place in the order of the drain
    TimePoint left_at{};                                    // when its output was ended
  };

  class Acceptor final : public net::FdHandler {
   public:
    Acceptor(Worker& worker, net::Fd listener) : worker_(worker), listener_(std::move(listener)) {}
    void on_readable() override { worker_.accept_clients(listener_); }
    void on_writable() override {}
    const net::Fd& listener() const { return listener_; }

   private:
    Worker& worker_;
    net::Fd listener_;
  };

  void flush_later(Session& session) override { dirty_sessions_.push_back(session.id()); }
  void resume_later(Session& session) override { resumable_.push_back(session.id()); }
  void hold_output(Session& session) override { held_outputs_.hold(session.id(), loop_.now()); }
  void call_later(const Session& session, Nanos pause, void (Session::*what)()) override;
  void destroy_at_end_of_turn(Session& session) override {
    ended_sessions_.push_back(session.id());
  }
  void shed_later() override { shed_due_ = true; }
  Session* session(std::uint64_t id);  // null: the session is gone
  std::span<char> read_buffer() override {
    note_work();
    return {scratch_.get(), Upstream::kScratchBytes};
  }
  void output_blocked(std::uint64_t client) override { slow_.push_back(client); }
  void ready(Upstream& upstream) override { opener_of(upstream, *upstreams_).ready(upstream); }
  void failed(Upstream& upstream, const std::string& reason) override {
    opener_of(upstream, *upstreams_).failed(upstream, reason);
  }
  void settle(Pending& pending, TimePoint now, copies::Shown shown) override {
    copies_.settle(pending, pending.session, now, shown);
    if (pending.spread != nullptr) [[unlikely]]
      spread_.written(std::move(*std::exchange(pending.spread, nullptr)), pending.session);
  }
  void answered(const Pending& pending, const Upstream::Answer& answer) override;
  bool reroute(Upstream& from, Pending& pending, std::string_view request,
               std::string_view error) override {
    return opener_of(from, *upstreams_).reroute(from, pending, request, error);
  }
  void gathered_lost(std::uint32_t number, const std::string& reason) override;
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override;
  std::unique_ptr<Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                 Upstream::Login login, ConnectionOwner* owner) override;
  void shared_settled(std::uint64_t session_id) override;
  void server_is_back() override;
  void server_left() override;
  void server_moved() override;
  void map_changed() override;
  void node_left(const redis::UpstreamAddress& server) override {
    for (const auto& [id, client] : clients_) client->session.node_left(server);
  }
  void writes_refused() override;
  void shared_renewed(TimePoint lost_at) override;
  bool accept_clients(const net::Fd& listener);  // false: no more are waiting
  void watch_listeners(net::Interest interest);
  void open_on_home_worker(net::Stream stream, const std::string& peer);
  void open_session(std::uint64_t id, net::Stream stream, const std::string& peer);
  std::uint64_t new_client_id();
  std::uint64_t free_client_id(std::uint64_t wanted);
  void start(std::uint64_t id, std::unique_ptr<Client> client);
  void adopt(MovedClient moved);
  void begin_to_move(std::size_t count, BalancedWorker& to);
  void move_clients();
  void report_load(TimePoint now);
  void refuse(const net::Fd& socket, copies::Count why, const char* words);
  bool is_within_rate(const net::Accepted& accepted);
  void start_tls(net::Accepted accepted, const net::TlsContext& context);
  void handshake_done(net::Stream stream, const std::string& peer) override;
  void handshake_failed(const std::string& peer, const std::string& why) override;
  void throttle_accept(const std::string& why);
  void follow_policy();
  void follow_fleet();
  void tick();
  void tend_clients(TimePoint now);
  void note_memory();
  void note_detection_memory();
  bool has_work() const;
  void rest();
  // A client does something. Wakes the worker and the keeper at the end of this turn.
  void note_work() {
    worked_at_ = loop_.now();
    if (timers_.slow() && !wake_due_) wake();
  }
  void wake();
  void check_timeouts(TimePoint now);
  void post_summary(bool urgent);
  void post_if_urgent();
  void share_reply(const Pending& pending, std::uint64_t bytes);
  void shed();
  void end_turn();
  void send_held_outputs();
  void start_drain(Nanos limit);
  void accept_last();
  void drain_step();
  void drain_client(Client& client, bool only_subscribers);
  static constexpr unsigned kTokenShift = 48;  // a token begins with the worker's number
  enum class Gift : std::uint8_t { kGiven, kLater, kFull, kKept };
  Gift give(std::uint64_t id, Client& client);
  Gift after_refusals(std::uint64_t id) const;
  handover::Channel::Sent send_gift(std::uint64_t token, const CarriedSession& session,
                                    const Client& client) const;
  void give_clients();
  bool adopt_now(CarriedClient came, const std::function<void()>& confirm);

  SharedState& shared_;
  copies::CopyKeeper& keeper_;
  const std::size_t index_;
  net::EventLoop loop_;
  cache::Epochs::Reader& reader_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  TlsHandshakes tls_handshakes_;
  copies::Counters counters_;
  copies::ReadHits read_hits_;
  Latencies latencies_;
  WorkerMemory memory_;
  // The round in which each client is visited once, a few buckets of clients_ at a time.
  struct Round {
    std::size_t bucket = 0;           // the next one
    std::uint64_t clients_bytes = 0;  // of the clients visited so far
    TimePoint visited_at{};
  } round_;
  copies::WorkerCopies copies_;
  std::unique_ptr<AccessCounter> counter_;  // null: detection is off
  ReplySizes* reply_sizes_;                 // the counter's
  net::TimerId urgent_timer_ = 0;
  std::unique_ptr<char[]> scratch_;

  KnownCommands commands_;
  std::unique_ptr<Upstreams> upstreams_;
  UserServers users_;
  ReplicaServers replicas_;
  copies::PermissionCache permissions_;
  Coalescing coalescing_;
  SpreadKeys spread_;
  BigReplies big_replies_;
  std::vector<resp::KeyRef> key_refs_;
  std::vector<AskedKey> asked_keys_;
  topology::SlotCounts::Sampler slot_sampler_;
  SessionParts parts_;  // a change of the configuration may add one

  std::unordered_map<std::uint64_t, std::unique_ptr<Client>> clients_;
  std::vector<std::uint64_t> dirty_sessions_;
  std::vector<std::uint64_t> resumable_;
  HeldOutputs held_outputs_;
  bool held_timer_is_set_ = false;
  std::vector<Upstream*> dirty_upstreams_;
  std::vector<std::uint64_t> ended_sessions_;
  std::vector<std::uint64_t> slow_;  // clients that do not read their replies
  struct Leaving {
    std::vector<std::uint64_t> clients;
    BalancedWorker* to = nullptr;
    TimePoint until{};
  } leaving_;
  ClientBalancer* balancer_ = nullptr;  // null: clients stay here
  struct Measured {
    TimePoint at;
    Nanos cpu;  // of this thread
  };
  std::optional<Measured> measured_;
  TimePoint server_left_at_{};
  TimePoint writes_refused_at_{};
  bool shed_due_ = false;
  SignOfLife sign_of_life_;
  copies::PacedTimers timers_;
  std::size_t tick_timer_ = 0;
  TimePoint worked_at_{};  // when a client last did something
  bool wake_due_ = false;
  std::uint64_t counted_for_ = 1;  // NodeState::fleet_instances that the counter knows
  bool quiet_ = true;              // the last summary was empty
  bool accepts_ = true;
  struct Giving {
    const handover::Channel* to = nullptr;  // null: none
    net::TimerId timer = 0;
    std::uint64_t tokens = 0;
    std::uint32_t version = handover::kOldestVersion;
    std::unordered_map<std::uint64_t, CarriedClient> unconfirmed;  // by token
    struct Refusals {
      unsigned count = 0;
      TimePoint at{};  // of the last one
    };
    std::unordered_map<std::uint64_t, Refusals> refusals;  // by client
  } giving_;
  std::atomic<std::uint64_t> to_give_{0};
  std::optional<Drain> drain_;
  std::array<std::uint64_t, kStays> drained_clients_{};  // as added to SharedState::drain
};

}  // namespace heatsink::proxy
