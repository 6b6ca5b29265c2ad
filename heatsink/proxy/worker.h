// SPDX-License-Identifier: Apache-2.0
// Runs one thread of the proxy: its clients, its connections to the server, its access counts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/sign_of_life.h"
#include "heatsink/command/known_commands.h"
#include "heatsink/command/pending.h"
#include "heatsink/copies/client_commands.h"
#include "heatsink/copies/keeper_listener.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/copies/read_hits.h"
#include "heatsink/copies/worker_copies.h"
#include "heatsink/detect/detect.h"
#include "heatsink/handover/handover.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/access_reports.h"
#include "heatsink/proxy/client_acceptor.h"
#include "heatsink/proxy/client_balancer.h"
#include "heatsink/proxy/client_drain.h"
#include "heatsink/proxy/client_handover.h"
#include "heatsink/proxy/client_moves.h"
#include "heatsink/proxy/memory_use.h"
#include "heatsink/proxy/near_pushes.h"
#include "heatsink/proxy/reply_figures.h"
#include "heatsink/proxy/served_clients.h"
#include "heatsink/proxy/server_connections.h"
#include "heatsink/proxy/work_pace.h"
#include "heatsink/relief/shared_state.h"
#include "heatsink/relief/spread_keys.h"
#include "heatsink/relief/write_gatherer.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/carried_client.h"
#include "heatsink/session/hot_channel.h"
#include "heatsink/session/latencies.h"
#include "heatsink/session/session_host.h"
#include "heatsink/upstream/upstream.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::copies {
class CopyKeeper;
}  // namespace heatsink::copies

namespace heatsink::proxy {

// Belongs to its own thread, except where a comment says otherwise. Keeps the loop, the mail of
// other threads and the order of a turn; its parts own the rest (docs/decisions/0136).
class Worker final : public copies::KeeperListener,
                     public BalancedWorker,
                     private Upstream::Host,
                     private ClientAcceptor::Owner,
                     private HotChannel::Source,
                     private Upstreams::Host {
 public:
  // `listener`: unset if all clients come by serve(). `poller`: null for the kernel's.
  Worker(SharedState& shared, copies::CopyKeeper& keeper, std::size_t index, net::Fd listener,
         std::unique_ptr<net::Poller> poller = nullptr);
  ~Worker();
  Worker(const Worker&) = delete;

  // Lets clients move between workers. Called before begin(). `balancer` outlives the thread.
  void balance_by(ClientBalancer& balancer) { moves_.balance_by(balancer); }
  void begin();  // before loop() runs
  void run();    // begin(), until stop()
  void stop();   // any thread
  // Any thread: the worker follows NodeState::current(), and then calls `done`, in its own thread.
  // From then on, and for each request that arrives later, what the configuration before allowed
  // does not count.
  void adopt_policy(std::function<void()> done);
  void serve(net::Stream client, const std::string& peer);  // an accepted connection
  void listen_on(net::Fd listener) { acceptor_.listen_on(std::move(listener)); }  // before begin()
  net::EventLoop& loop() { return loop_; }
  std::size_t index() const { return index_; }

  // Figures. Any thread:
  const copies::Counters& counters() const override { return counters_; }
  const copies::ReadHits& read_hits() const { return read_hits_; }
  const copies::DurationHistogram* client_latency() const override { return &latencies().client; }
  const copies::SampledSizes* reply_sizes() const override { return replies_.sampled(); }
  const copies::ClientCommands* client_commands() const override { return &client_commands_; }
  std::string client_name(std::uint32_t client) const override {
    return shared_.client_names.name(client);
  }
  const Latencies& latencies() const { return replies_.latencies(); }
  const WorkerMemory& memory() const { return memory_; }
  const NearFigures& near_figures() const { return near_pushes_.figures(); }
  const SignOfLife& sign_of_life() const { return sign_of_life_; }
  net::Mailbox::Counts mailbox() const { return loop_.mailbox(); }
  // How many of its clients keep the name; nothing: no answer within this time. Any thread but its
  // own.
  std::optional<std::uint64_t> clients_with(NameHash name, Nanos within);

  // Any thread:
  void take_client(std::uint64_t id, net::Stream stream, const std::string& peer) override;
  void take_moved(MovedClient client) override;
  void give_clients(std::size_t count, BalancedWorker& to) override;
  void deliver(std::vector<std::shared_ptr<const copies::FillAnswer>> answers) override;
  void release(std::uint64_t session_id, std::uint64_t ticket) override;
  void set_commands(std::shared_ptr<const resp::CommandTable> commands) override;
  void hear_verdicts() override {
    loop_.post([this] { hot_channel_.has_news(); });
  }
  void hear_near() override {
    loop_.post([this] { near_pushes_.take_mail(); });
  }
  // Stops accepting and closes the clients as drain.h says; `limit` > 0. The worker that has done
  // so counts down SharedState::drain.workers_to_begin.
  void begin_drain(Nanos limit);

  void accept_later() { acceptor_.accept_later(); }  // before begin(): not until set_accepting()
  // To and from another process (client_handover.h). Any thread.
  void set_accepting(bool wanted, std::function<void()> done);
  // Gives the clients to the process behind `to`, which outlives it, until end_hand_over().
  // `version`: of the hand-over, which that process knows.
  void hand_over(const handover::Channel& to, std::uint32_t version);
  void taken(std::uint64_t token);      // that process has the client: forgets it
  void refused(std::uint64_t token);    // that process has not touched it: it goes on here
  void end_hand_over(bool takes_back);  // `takes_back`: clients that it may not have go on here
  // Clients that hand_over() has still to give, or whose receipt is not confirmed. Those that stay
  // (Session::stays_behind()) do not count.
  std::uint64_t to_hand_over() const { return handover_.to_give(); }
  // Calls `answer` before the client is served, or when it cannot be: then nothing was read from
  // its connections, nothing was sent, and they are closed here.
  void adopt(CarriedClient came, std::function<void(bool)> answer);
  static std::size_t index_in(std::uint64_t token) { return ClientHandover::worker_of(token); }

 private:
  // Upstream::Host
  char* scratch() override { return scratch_.get(); }
  void flush_later(Upstream& upstream) override { servers_.flush_later(upstream); }
  void ready(Upstream& upstream) override { servers_.opener(upstream).ready(upstream); }
  void failed(Upstream& upstream, const std::string& reason) override {
    servers_.opener(upstream).failed(upstream, reason);
  }
  void settle(Pending& pending, TimePoint now, copies::Shown shown) override {
    near_pushes_.settles(pending);
    copies_.settle(pending, pending.session, now, shown);
    if (pending.spread != nullptr) [[unlikely]]
      spread_.written(std::move(*std::exchange(pending.spread, nullptr)), pending.session);
    near_pushes_.settled(pending);
  }
  void answered(const Pending& pending, const Upstream::Answer& answer) override;
  bool reroute(Upstream& from, Pending& pending, std::string_view request,
               std::string_view error) override {
    return servers_.opener(from).reroute(from, pending, request, error);
  }
  void gathered_lost(std::uint32_t number, const std::string& reason) override;
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override {
    replies_.note_size(pending, bytes);
  }
  void writes_refused() override;
  // Upstreams::Host
  std::unique_ptr<Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                 Upstream::Login login, ConnectionOwner* owner) override;
  void shared_decided(std::uint64_t session_id) override;
  void server_is_back() override;
  void server_left() override;
  void node_left(const redis::UpstreamAddress& server) override;
  void shared_renewed(TimePoint lost_at) override;
  // KeeperListener, with the public ones. Any thread.
  void server_moved() override;
  void map_changed() override;
  // HotChannel::Source
  void ask_verdicts() override;
  void end_verdicts() override;
  copies::VerdictInbox::Content take_verdicts() override;
  void deliver_verdicts_later() override;
  // ClientAcceptor::Owner
  void accepted(net::Stream stream, const std::string& peer) override;
  void note_work() override { pace_.note_work(); }

  void follow_policy();
  void tick();
  void tend_clients(TimePoint now);
  void note_detection_memory();
  bool has_work() const;
  void end_turn();
  void start_drain(Nanos limit);

  SharedState& shared_;
  copies::CopyKeeper& keeper_;
  const std::size_t index_;
  net::EventLoop loop_;
  cache::Epochs::Reader& reader_;
  copies::Counters counters_;
  SignOfLife sign_of_life_;
  WorkPace pace_;
  ClientAcceptor acceptor_;
  copies::ReadHits read_hits_;
  copies::ClientCommands client_commands_;
  WorkerMemory memory_;
  copies::WorkerCopies copies_;
  AccessReports accesses_;
  std::unique_ptr<char[]> scratch_;  // Upstream::kScratchBytes

  KnownCommands commands_;
  ReplyFigures replies_;
  ServerConnections servers_;
  copies::PermissionCache permissions_;
  WriteGatherer write_gatherer_;
  SpreadKeys spread_;
  HotChannel hot_channel_;
  NearPushes near_pushes_;
  std::vector<resp::KeyRef> key_refs_;
  std::vector<AskedKey> asked_keys_;
  std::vector<std::string_view> run_args_;
  topology::SlotCounts::Sampler slot_sampler_;
  SessionParts parts_;  // a change of the configuration may add one

  ServedClients clients_;
  ClientMoves moves_;
  ClientHandover handover_;
  ClientDrain drain_;
  TimePoint writes_refused_at_{};
};

}  // namespace heatsink::proxy
