// SPDX-License-Identifier: Apache-2.0
// The keeper: the one thread that decides which keys are hot and keeps their copies consistent.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/sign_of_life.h"
#include "heatsink/copies/auditor.h"
#include "heatsink/copies/copy_admission.h"
#include "heatsink/copies/copy_orders.h"
#include "heatsink/copies/event_log.h"
#include "heatsink/copies/fill_inbox.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/filler.h"
#include "heatsink/copies/followed_servers.h"
#include "heatsink/copies/heat_writer.h"
#include "heatsink/copies/hot_keys.h"
#include "heatsink/copies/hottest_limits.h"
#include "heatsink/copies/judge_pace.h"
#include "heatsink/copies/keeper_listener.h"
#include "heatsink/copies/keeper_queries.h"
#include "heatsink/copies/keeper_report.h"
#include "heatsink/copies/keeper_rest.h"
#include "heatsink/copies/learned.h"
#include "heatsink/copies/near_mail.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/offload_meter.h"
#include "heatsink/copies/outage_notes.h"
#include "heatsink/copies/recording.h"
#include "heatsink/copies/refresher.h"
#include "heatsink/copies/replica_follower.h"
#include "heatsink/copies/verdict_feed.h"
#include "heatsink/copies/warming.h"
#include "heatsink/copies/worker_copies.h"
#include "heatsink/copies/worker_inbox.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// Puts the parts together: it has the thread, the loop, the mail of the workers, and the order of a
// turn. What a part owns, takes and gives stands in its header; decision 125 has the table.
//
//   counts of workers -> HotKeys -> verdicts -> CopyAdmission, ReplicaFollower, HottestLimits
//   fills of workers, orders (Warming), renewals (Refresher) -> Filler <-> FollowedServers
//
// Members of the keeper's thread, unless a paragraph says "any thread".
class CopyKeeper final : public CopySource,
                         private Filler::Listener,
                         private Auditor::Listener,
                         private Warming::Owner,
                         private FollowedServers::Owner {
 public:
  explicit CopyKeeper(NodeState& shared, std::unique_ptr<net::Poller> poller = nullptr);
  ~CopyKeeper();
  CopyKeeper(const CopyKeeper&) = delete;

  // Call it before run(). Sorted by worker number; all workers must outlive the keeper.
  void serve(std::vector<KeeperListener*> workers);
  void record_to(Recording recording) {  // call it before begin()
    shared_.heat.listen(std::move(recording.moment));
    events_.listen(std::move(recording.event));
  }
  void begin();  // call it before loop() runs
  void run() {   // until stop()
    begin();
    loop_.run();
  }
  net::EventLoop& loop() { return loop_; }

  // Any thread:
  void stop() { loop_.stop(); }
  // Makes `next` the configuration, and then calls `done`, in the keeper's thread. It replaces the
  // one that NodeState::held() has when the keeper runs this; so one change at a time.
  void adopt(std::shared_ptr<const PolicySnapshot> next, std::function<void()> done);
  void add_config_event(report::Event::Config config, std::string reason);
  void add_order_event(std::string reason, report::WarmKey key);  // as CopyOrders::note()

  // Any thread, in fact the workers':
  void worker_woke() {  // after NodeState::clients has counted the client
    if (rest_.rests()) loop_.post([this] { wake(); });
  }
  bool is_full() const override { return loop_.is_full() || fill_inbox_.is_full(); }
  void request_fill(FillRequest request) override { fill_inbox_.put(std::move(request)); }
  void send_fills() override;
  void request_barrier(BarrierRequest request) override;
  void check_access(std::size_t worker, std::uint64_t session) override;
  void audit(AuditedHit hit) override;
  // As FollowedServers has them.
  void server_is_back();
  void connection_renewed(TimePoint lost_at);
  void writes_refused() { servers_.writes_refused(); }
  // Summaries of the measures that the rules need. Newer ones replace those that the keeper has not
  // looked at yet.
  void post_summaries(std::size_t worker, std::vector<detect::Summary> summaries, bool urgent);
  void play(std::size_t worker, const WorkerSample& sample);
  // A subscriber of the worker needs the list of hot keys: it comes by take_verdicts(), and the
  // changes after it. end_verdicts(): the worker has no subscriber any more.
  void ask_verdicts(std::size_t worker);
  void end_verdicts(std::size_t worker) {
    loop_.post([this, worker] { verdicts_.end(worker); });
  }
  VerdictInbox::Content take_verdicts(std::size_t worker) { return verdicts_.inbox().take(worker); }
  NearMail& near_mail() { return near_mail_; }

  // Any thread but the keeper's: reports, orders and questions, which wait for the keeper.
  KeeperQueries& queries() { return queries_; }

  // Any thread. For the process that has taken over; warm_all() as Warming::inherit().
  void begin_with(const Learned& learned);
  void warm_all(std::vector<LastingKey> keys, Nanos at_least);

  // Any thread:
  std::uint64_t summaries_replaced() const { return inbox_.replaced(); }
  net::Mailbox::Counts mailbox() const { return loop_.mailbox(); }
  std::vector<report::Event> events() const { return events_.latest(); }
  std::size_t history_bytes() const { return events_.memory_bytes(); }
  std::size_t client_bytes() const { return heat_writer_.client_bytes(); }
  const Counters& counters() const { return counters_; }
  const SignOfLife& sign_of_life() const { return sign_of_life_; }
  const DurationHistogram& fill_latency() const { return filler_.latency(); }
  const DurationHistogram& staleness() const { return auditor_.staleness(); }

 private:
  // The turn.
  void begin_timers();
  void each_second();
  void end_turn();
  void wake() { rest_.wake(loop_.clock()); }
  bool has_work() const;

  // The mail of the workers, and to them.
  void take_fills(std::size_t count);
  void ask_or_wait(FillRequest request);
  void refresh();
  void take_from_inbox();
  void deliver_answers();

  // Hot keys.
  void judge_if_due();
  void judge();
  void note_changes(std::vector<detect::Change> changes);
  // Of hot, write-hot and merely warmed keys.
  std::size_t hot_count() const { return hot_keys_.count() + warming_.warmer().size(); }
  void follow_keys();

  // What is noted once a second.
  void count_departures();
  void note_heat();

  void adopt_now(std::shared_ptr<const PolicySnapshot> next);
  void adopt_timers(const policy::ProxyOptions& options);

  // Filler::Listener.
  void deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) override;
  void release(const BarrierRequest& waited) override;
  void learn(const redis::ServerFacts& facts) override;
  void rights_changed() override { servers_.rights_changed(); }
  void filled(const FillRequest& asked, FillOutcome outcome, const std::string& why) override;
  void changed(const cache::Entry& entry) override { admission_.ended(entry); }
  void kept_name_changed(NameHash name) override { near_mail_.put(NearMail::kKeeper, {name}); }
  void kept_names_unproven() override { near_mail_.put_proof_changed(); }
  void kept_slots_lost(const std::vector<bool>& slots) override { near_mail_.put_lost(slots); }
  void server_use(cache::ProofIndex server, const redis::ServerUse& use) override;
  void proof_state_changed(const std::string& reason) override;
  void log_refusal(const FillRequest& asked, FillOutcome outcome, const std::string& why);

  // Auditor::Listener.
  void stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint now) override;

  // Warming::Owner.
  void load(FillRequest request) override { filler_.request(std::move(request), loop_.clock()); }
  void send_loads() override { servers_.flush(); }
  void note_warmed(std::vector<detect::Change> changes, TimePoint now) override;
  bool is_hot_by_rate(KeyHash key) const override { return hot_keys_.is_hot(key); }
  std::string coherence() const override { return servers_.coherence(); }

  // FollowedServers::Owner.
  void server_moved() override;
  void map_changed() override;

  NodeState& shared_;
  Counters counters_;
  net::EventLoop loop_;
  const TimePoint started_at_;
  std::vector<KeeperListener*> workers_;
  // The answers of this turn; a worker gets its own in one message, before any other message.
  std::vector<std::vector<std::shared_ptr<const FillAnswer>>> answers_;
  FillInbox fill_inbox_;
  std::vector<FillRequest> fills_taken_;  // keeps its memory
  WorkerInbox inbox_;
  NearMail near_mail_;
  std::atomic<bool> flush_missed_{false};  // a barrier that flushes found the mailbox full

  EventLog events_;
  Filler filler_;
  Auditor auditor_;
  FollowedServers servers_;
  ReplicaFollower replicas_;
  Refresher refresher_;
  Warming warming_;
  HotKeys hot_keys_;
  JudgePace pace_;
  net::TimerId judge_timer_ = 0;
  bool looks_again_ = false;  // follow_keys() is due: writes are uncounted
  CopyAdmission admission_;
  CopyOrders orders_;
  HottestLimits limits_;
  OffloadMeter offload_;
  HeatWriter heat_writer_;
  OutageNotes outages_;
  KeeperReport report_;
  VerdictFeed verdicts_;
  SignOfLife sign_of_life_;
  KeeperRest rest_;
  KeeperQueries queries_;
  // The numbers of the timers whose periods are options.
  struct Periods {
    std::size_t heartbeat = 0, filler = 0, access = 0, refresh = 0, hot_keys = 0;
  } periods_;
};

}  // namespace heatsink::copies
