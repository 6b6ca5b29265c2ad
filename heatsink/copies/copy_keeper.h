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
#include "heatsink/copies/access_probe.h"
#include "heatsink/copies/audit_reader.h"
#include "heatsink/copies/auditor.h"
#include "heatsink/copies/copy_chooser.h"
#include "heatsink/copies/event_log.h"
#include "heatsink/copies/fill_inbox.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/filler.h"
#include "heatsink/copies/heat_writer.h"
#include "heatsink/copies/idle_keep_alive.h"
#include "heatsink/copies/keeper_listener.h"
#include "heatsink/copies/key_inspector.h"
#include "heatsink/copies/learned.h"
#include "heatsink/copies/load_window.h"
#include "heatsink/copies/missing_copy.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/node_trackers.h"
#include "heatsink/copies/paced_timers.h"
#include "heatsink/copies/pattern_searches.h"
#include "heatsink/copies/recording.h"
#include "heatsink/copies/refresher.h"
#include "heatsink/copies/rights_check.h"
#include "heatsink/copies/server_cpu.h"
#include "heatsink/copies/trim_policy.h"
#include "heatsink/copies/warm_plans.h"
#include "heatsink/copies/warmer.h"
#include "heatsink/copies/worker_copies.h"
#include "heatsink/copies/worker_inbox.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/automatic_limits.h"
#include "heatsink/redis/redis.h"
#include "heatsink/report/report.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

class CopyKeeper final : public CopySource,
                         private Filler::Listener,
                         private Auditor::Listener,
                         private topology::FollowedMaster::Listener {
 public:
  explicit CopyKeeper(NodeState& shared, std::unique_ptr<net::Poller> poller = nullptr);
  ~CopyKeeper();
  CopyKeeper(const CopyKeeper&) = delete;

  // Call it before run(). Sorted by worker number; all workers must outlive the keeper.
  void serve(std::vector<KeeperListener*> workers) {
    workers_ = std::move(workers);
    answers_.resize(workers_.size());
  }
  void record_to(Recording recording);  // call it before begin()
  void begin();                         // call it before loop() runs
  void run();                           // begin() and the loop, until stop()
  net::EventLoop& loop() { return loop_; }

  // For any thread:
  void stop();
  // Makes `next` the configuration, and then calls `done`, in the keeper's thread. It replaces the
  // one that NodeState::held() has when the keeper runs this; so one change at a time.
  void adopt(std::shared_ptr<const PolicySnapshot> next, std::function<void()> done);
  void add_config_event(report::Event::Config config, std::string reason);
  void worker_woke();  // after NodeState::clients has counted the client
  bool is_full() const override { return loop_.is_full() || fill_inbox_.is_full(); }
  void request_fill(FillRequest request) override;
  void send_fills() override;
  void request_barrier(BarrierRequest request) override;
  void check_access(std::size_t worker, std::uint64_t session) override;
  void audit(AuditedHit hit) override;
  void server_is_back();  // a worker has reached the server: the tracker retries now
  // A shared connection that broke at `lost_at` is back. Another server may own the address by now,
  // and copies must come from the server that receives the writes. So older connections of the
  // keeper are replaced, too.
  void connection_renewed(TimePoint lost_at);
  // The server has refused a write because it is a replica.
  void writes_refused() { master_.doubt(); }
  // Summaries of the measures that the rules need. Newer ones replace those that the keeper has not
  // looked at yet.
  void post_summaries(std::size_t worker, std::vector<detect::Summary> summaries, bool urgent);
  void play(std::size_t worker, const WorkerSample& sample);
  std::uint64_t summaries_replaced() const { return inbox_.replaced(); }
  net::Mailbox::Counts mailbox() const { return loop_.mailbox(); }
  // The current state. If the keeper does not answer within 1 s, the report is empty and
  // `coherence` says so.
  report::Report report();
  std::vector<report::Event> events() const { return events_.latest(); }
  std::size_t history_bytes() const { return events_.memory_bytes(); }  // any thread
  // Waits until the server has answered for all keys, at most 3 s (copy_keeper_warming.cc).
  report::WarmReport warm(report::WarmOrder order);
  // The warmed keys by name, and the searches. Or one search, with its keys once it is over.
  report::WarmReport warmed(std::uint64_t search = 0);
  // For a process that takes over from another one: keys with copies, and for how long a person
  // wants them warm (0: no order asks for it). Those of orders, then by worth, the best one first.
  // Waits up to a second; at most `count_max` keys.
  struct LastingKey {
    report::WarmKey key;
    Nanos lasts{0};
  };
  std::vector<LastingKey> hot_names(std::size_t count_max);
  // What it has learned for the choice of what gets a copy. Waits up to a second; then it is empty.
  Learned learned();
  void begin_with(const Learned& learned);
  // Loads such keys, and keeps them hot for that time; for `at_least` if no order does.
  void warm_all(std::vector<LastingKey> keys, Nanos at_least);
  // What the proxy has counted of the key, and what the server says about its value. Waits for the
  // server, at most 2 s (copy_keeper_inspection.cc). `name` may be the redacted name.
  report::KeyInspection inspect(std::string name, std::uint32_t db);
  const Counters& counters() const { return counters_; }
  const SignOfLife& sign_of_life() const { return sign_of_life_; }
  const DurationHistogram& fill_latency() const { return filler_.latency(); }
  const DurationHistogram& staleness() const { return auditor_.staleness(); }

 private:
  struct WarmWaiter;
  static constexpr std::size_t kMergedKeys = 4096;  // keys that a merged summary lists

  void deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) override;
  void release(const BarrierRequest& waited) override;
  void learn(const redis::ServerFacts& facts) override;
  void rights_changed() override;
  void filled(const FillRequest& asked, FillOutcome outcome, const std::string& why) override;
  void changed(KeyHash key) override { savings_.ended(key); }
  void server_use(cache::ProofIndex server, const redis::ServerUse& use) override;
  void proof_state_changed(const std::string& reason) override;
  void stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint now) override;

  std::vector<KeyHash> best_keys(std::size_t count_max) const;
  void look_into_inbox();
  void follow_keys();
  void end_turn();
  void take_fills(std::size_t count);
  void deliver_answers();
  void take_from_inbox();
  void take_summary(std::size_t worker, detect::Summary summary);
  void judge_if_due();
  void log_refusal(const FillRequest& asked, FillOutcome outcome, const std::string& why);
  void ask_or_wait(FillRequest request);
  void admit(FillRequest& request);
  void tend_earned_copies();
  void note_own_work();
  void count_departures();
  std::optional<report::CopiesReport> report_on_copies() const;
  std::vector<report::CopiesReport::Copy> best_copies() const;
  void count_refusal(FillOutcome outcome);
  void refresh();

  bool has_work() const;
  void trim_after_burst();
  std::uint64_t unused_memory() const;
  void rest_if_idle();
  void wake();

  void watch_suspects();
  void check_access_if_unreported();

  // copy_keeper_leader.cc
  void begin_watch();
  void leave_master() override;
  void follow_master() override;
  void master_told(const topology::FollowedMaster::Change& change) override;
  void master_confirmed(TimePoint at) override { shared_.proof.confirm(at); }

  // copy_keeper_policy.cc
  void adopt_detection(const PolicySnapshot& before);
  void adopt_automatic_limits(const PolicySnapshot& before, TimePoint now);
  std::optional<cache::ConsistencyPolicy> consistency_now(const cache::Entry& entry) const;
  void adopt_copies(const PolicySnapshot& before, TimePoint now);
  void adopt_connections(const PolicySnapshot& before);
  void adopt_timers(const policy::ProxyOptions& options);

  // copy_keeper_fleet.cc
  void begin_fleet();
  void follow_fleet(TimePoint now);
  bool is_worth_holding_in_fleet(const detect::Verdict& verdict) const;
  std::optional<report::FleetReport> report_on_fleet() const;

  // copy_keeper_replicas.cc
  void begin_replicas();
  void adopt_replicas();
  void follow_masters();
  void renew_masters();
  void update_replica_reads();

  void update_hot_keys();
  void apply(const std::vector<detect::Change>& changes);
  policy::CopiesFor copies_for(const detect::KeyCount& count) const;
  bool is_worth_holding(const detect::KeyCount& count) const;
  bool is_worth_holding(const detect::Verdict& verdict) const;
  void cool_down(const detect::KeyCount& count);
  void promote(const detect::Verdict& verdict);
  void limit_the_hottest(TimePoint now);
  std::string limit_on(const detect::KeyCount& count) const;
  report::Report make_report();
  report::KeyReport report_on(const detect::Verdict& verdict) const;
  double counted_seconds(const detect::Measure& measure) const;
  // For a key that was counted for so long.
  std::int64_t spared_of(const detect::KeyCount& count, double counted_seconds) const;
  EventLog::Reliefs reliefs();
  std::size_t hot_keys() const;  // hot, write-hot and merely warmed keys
  double accesses_rate(const detect::Verdict& verdict) const;
  void begin_cluster();
  void tick_cluster();
  void follow_map();
  const redis::FillSource& source() const;
  void refresh_cluster(std::optional<topology::NodeIndex> hint);
  std::string coherence() const;
  MissingCopy missing_copy(const detect::Verdict& verdict, const cache::Entry* entry,
                           bool is_off) const;

  // copy_keeper_load.cc
  CommandLoad load() const;
  ServerEffort effort() const;
  void note_load();
  LoadWindow::Span load_of_window();
  void note_heat();
  void add_load(report::Report& report);

  std::string cluster_problem() const;
  void add_upstream(report::Report& report) const;

  // copy_keeper_inspection.cc
  report::Report report_of_one(const std::string& name, std::uint32_t db);
  detect::Verdict cold_verdict(const std::string& name, std::uint32_t db) const;
  std::vector<report::Event> events_of(const detect::KeyCount& shown) const;
  std::optional<std::string> true_name(const detect::KeyCount& shown,
                                       const std::string& name) const;

  // copy_keeper_warming.cc
  void begin_warming(const std::shared_ptr<WarmWaiter>& waiter);
  void begin_search(WarmWaiter& waiter, TimePoint now);
  void end_searches(WarmWaiter& waiter);
  void add_search(std::uint64_t id, bool with_keys, report::WarmReport& report) const;
  void search();
  void keep_warm();
  void apply_warming_changes(TimePoint now);
  void record_refusal(const Warmer::WarmingChange& warming);
  bool is_hot_by_rate(KeyHash hash) const;
  void answer_warm_waiters(TimePoint now);
  report::WarmedKey outcome_of(const WarmWaiter& waiter, std::size_t i) const;
  report::WarmedKey report_on(KeyHash hash) const;
  detect::Verdict as_warmed(detect::Verdict verdict, TimePoint now) const;
  void add_warmed(report::Report& report) const;

  NodeState& shared_;
  Counters counters_;
  net::EventLoop loop_;
  Filler filler_;
  redis::Tracker tracker_;
  IdleKeepAlive keep_alive_;
  Refresher refresher_;
  Warmer warmer_;
  PatternSearches searches_;
  net::TimerId search_timer_ = 0;
  WarmPlans plans_;
  TimePoint plans_looked_at_{};
  std::vector<std::shared_ptr<WarmWaiter>> warm_waiters_;
  redis::ServerConnection tracker_connection_;
  topology::ClusterConnections cluster_;
  topology::SlotStatsPoll slot_stats_;
  NodeTrackers nodes_;  // in use once cluster_ has begun, instead of tracker_
  std::atomic<bool> refresh_posted_{false};
  AccessProbe access_;
  RightsCheck rights_;
  KeyInspector inspector_;
  Auditor auditor_;
  AuditReader audit_reader_;
  topology::FollowedMaster master_;
  std::unique_ptr<topology::ReplicaMonitor> replicas_;  // null: before begin()
  std::uint64_t replicas_version_ = 0;                  // epoch_version() of the map it follows
  net::TimerId suspects_timer_ = 0;
  bool outage_reported_ = false;
  std::vector<KeeperListener*> workers_;
  // The answers of this turn; a worker gets its own in one message, before any other message.
  std::vector<std::vector<std::shared_ptr<const FillAnswer>>> answers_;
  FillInbox fill_inbox_;
  std::vector<FillRequest> fills_taken_;  // keeps its memory
  WorkerInbox inbox_;
  std::atomic<bool> flush_missed_{false};  // a barrier that flushes found the mailbox full
  bool looks_again_ = false;               // follow_keys() is due: writes are uncounted
  bool judges_ = false;                    // update_hot_keys() is due
  TimePoint judges_from_{};                // but not before this
  net::TimerId judge_timer_ = 0;
  // By measure and worker: the latest summary.
  std::vector<std::vector<detect::Summary>> summaries_;
  std::vector<detect::Summary> merged_;  // by measure
  detect::Selector selector_;
  std::optional<CopyChooser> chooser_;  // none: only hot keys get copies
  CopyChooser::KeeperWork own_work_;    // in total, at the last tend_earned_copies()
  LoadWindow loads_;
  ServerCpu server_cpu_;
  HeatWriter heat_writer_;
  admit::CopySavings savings_;                      // empty without a chooser
  std::unique_ptr<fleet::Link> fleet_;              // null: this proxy counts alone
  fleet::List fleet_list_;                          // as of the last judging; null: not known
  std::vector<detect::FleetWindow> fleet_windows_;  // of that list, by measure; empty: not known
  std::uint64_t alone_as_ = 1;                      // the selector has thresholds divided by this
  policy::AutomaticLimits automatic_;
  EventLog events_;
  const TimePoint started_at_;
  SignOfLife sign_of_life_;
  PacedTimers timers_;
  // The numbers of the timers whose periods are options.
  struct Periods {
    std::size_t heartbeat = 0, filler = 0, access = 0, refresh = 0, hot_keys = 0;
  } periods_;
  TrimPolicy trim_;
  TimePoint woken_at_;
  std::atomic<bool> rests_{false};
};

}  // namespace heatsink::copies
