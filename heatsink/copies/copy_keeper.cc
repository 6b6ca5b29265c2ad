// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_keeper.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/copies/keeper_options.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kClusterTick = Millis(100);
constexpr Nanos kWarmInterval = Millis(100);  // the delay with which a key is reloaded or released

// Without clients and copies there is nothing to keep consistent. The keeper then only checks
// whether the server is there (copy_keeper_rest.cc).
constexpr Nanos kRestPeriod = std::chrono::seconds(1);
// Entries looked at per kRestPeriod. Of 65 536 keys each has its turn within 8 s; 8192 take about
// 1 ms if no CPU cache holds them.
constexpr std::size_t kSweptPerPeriod = 8192;

}  // namespace

CopyKeeper::CopyKeeper(NodeState& shared, std::unique_ptr<net::Poller> poller)
    : shared_(shared),
      loop_(std::move(poller)),
      filler_(shared, counters_, *this),
      tracker_(tracker_options(shared), filler_),
      keep_alive_(shared.table, tracker_),
      refresher_(shared, counters_),
      warmer_(shared),
      searches_(loop_, shared, warmer_),
      plans_(shared.options().warming),
      tracker_connection_(loop_, shared.upstream_address, tracker_, shared.connection_options(),
                          "local copies"),
      cluster_(
          loop_, shared.cluster, [&shared] { return shared.credentials(); },
          shared.connection_options()),
      slot_stats_(loop_, cluster_, shared.cluster, shared.slot_usage, shared.seed),
      nodes_(shared, loop_, filler_),
      access_(loop_, shared),
      rights_(loop_, shared),
      inspector_(loop_, shared),
      auditor_(shared, counters_, *this),
      audit_reader_(shared, loop_, auditor_),
      master_(loop_, shared.upstream_address, *this),
      inbox_(static_cast<std::size_t>(shared.options().workers)),
      summaries_(shared.rules().measures().size(),
                 std::vector<detect::Summary>(static_cast<std::size_t>(shared.options().workers))),
      merged_(shared.rules().measures().size()),
      selector_(policy::selector_options(shared.options(), shared.rules())),
      heat_writer_(shared.shown, shared.heat),
      savings_(loop_.clock()),
      automatic_(shared.options().automatic_qps, policy::Limits::kAutomaticMax),
      events_(policy::quiet_sentence(shared.options())),
      started_at_(loop_.clock()),
      sign_of_life_(started_at_),
      timers_(loop_, kRestPeriod),
      woken_at_(started_at_) {
  shared.cluster.on_stale(
      [this](std::optional<topology::NodeIndex> hint) { refresh_cluster(hint); });
  cluster_.on_answer([this] { follow_map(); });
  filler_.use(tracker_);
  if (shared.admission)
    chooser_.emplace(chooser_options(shared.options()), *shared.admission, shared.table);
}

CopyKeeper::~CopyKeeper() = default;

// All barriers of the turn share one command, and its output one write.
void CopyKeeper::end_turn() {
  if (flush_missed_.exchange(false)) filler_.flush_all();
  judge_if_due();
  follow_keys();
  filler_.send_barriers(loop_.clock());
  deliver_answers();
  search();
  tracker_connection_.flush();
  audit_reader_.flush();
  nodes_.trackers().flush();
  watch_suspects();
  shared_.epochs.collect();
}

void CopyKeeper::begin() {
  loop_.on_turn_end([this] { end_turn(); });
  // Twice per heartbeat interval: a late tick then delays a heartbeat by half an interval at most.
  periods_.heartbeat = timers_.every(shared_.options().heartbeat_interval / 2, [this] {
    const bool idle = shared_.table.copies() == 0;
    tracker_.set_resting(idle);
    audit_reader_.set_resting(idle);
    nodes_.trackers().set_resting(idle);
    shared_.tracked_keys.store(tracker_.tracked_names() + nodes_.trackers().tracked_names(),
                               std::memory_order_relaxed);
    tracker_connection_.tick();
    nodes_.tick();
  });
  periods_.filler =
      timers_.every(shared_.options().acl_staleness / 4, [this] { filler_.tick(loop_.clock()); });
  if (shared_.options().detection_enabled)
    periods_.hot_keys = timers_.every(shared_.options().tick, [this] { judges_ = true; });
  timers_.every(IdleKeepAlive::kInterval, [this] {
    keep_alive_.touch_keys(loop_.clock());
    rights_.tick(loop_.clock());
    tracker_connection_.flush();
  });
  periods_.refresh = timers_.every(shared_.options().refresh_interval, [this] { refresh(); });
  timers_.every(kWarmInterval, [this] {
    keep_warm();
    note_load();
  });
  timers_.every(KeyInspector::kTick, [this] { inspector_.tick(loop_.clock()); });
  periods_.access =
      timers_.every(shared_.options().acl_staleness / 2, [this] { check_access_if_unreported(); });
  timers_.every(kRestPeriod, [this] {
    sign_of_life_.give(loop_.clock());
    tend_earned_copies();
    count_departures();
    log_summaries(loop_.now());
    note_heat();
    trim_after_burst();
    rest_if_idle();
  });
  begin_watch();
  timers_.every(kClusterTick, [this] { tick_cluster(); });
  if (shared_.upstream.topology == net::Topology::kCluster) {
    begin_cluster();
  } else {
    tracker_connection_.connect();
  }
  audit_reader_.begin();
  begin_fleet();
  begin_replicas();
}

void CopyKeeper::run() {
  begin();
  loop_.run();
}

void CopyKeeper::stop() { loop_.stop(); }

void CopyKeeper::request_fill(FillRequest request) { fill_inbox_.put(std::move(request)); }

void CopyKeeper::send_fills() {
  if (const std::size_t count = fill_inbox_.untold(); count > 0)
    loop_.post([this, count] { take_fills(count); });
}

void CopyKeeper::take_fills(std::size_t count) {
  fill_inbox_.take(count, fills_taken_);
  for (FillRequest& request : fills_taken_) {
    if (request.admits) admit(request);
    ask_or_wait(std::move(request));
  }
}

// The key's fence begins now, and the fill must be younger. Without room the fill still answers the
// read.
void CopyKeeper::admit(FillRequest& request) {
  if (shared_.table.entry(request.hash) != nullptr) return;  // another worker was first
  // The worker may have asked by rules that are no longer the present ones.
  const PolicySnapshot& policy = shared_.current();
  const std::size_t rule = policy.rule_of(request.key);
  if (policy.copies_for[rule] != policy::CopiesFor::kWhatPays) return;
  request.consistency = policy.consistency[rule];
  const TimePoint now = loop_.clock();
  request.fence = std::max(request.fence, now);
  static_cast<void>(shared_.table.admit(request.key, request.db, request.hash,
                                        hash_name(request.key, shared_.seed), now,
                                        request.consistency));
}

// Once per kRestPeriod. Drops also copies that nobody has read for twice the time that a copy
// lives.
void CopyKeeper::tend_earned_copies() {
  if (!chooser_) return;
  note_own_work();
  chooser_->tick(loop_.clock());
  savings_.tick(loop_.clock());
  shared_.table.drop_unfilled(loop_.clock() - 2 * shared_.options().expire_after_write,
                              kSweptPerPeriod);
}

void CopyKeeper::note_own_work() {
  const CopyChooser::KeeperWork now{.time = loop_.clock().time_since_epoch(),
                                    .cpu = loop_.cpu_time(),
                                    .fills = counters_.read(Count::kFills),
                                    .ends = counters_.read(Count::kInvalidations)};
  const CopyChooser::KeeperWork before = std::exchange(own_work_, now);
  if (before.cpu == Nanos(0)) return;  // the first time, or it is not measured
  chooser_->saw(now - before);
}

void CopyKeeper::ask_or_wait(FillRequest request) {
  const TimePoint now = loop_.clock();
  const Nanos wait = filler_.wait_for_expiry(request, now);
  if (wait == Nanos(0)) return filler_.request(std::move(request), now);
  loop_.call_after(
      wait, [this, request = std::move(request)] { filler_.request(request, loop_.clock()); });
}

void CopyKeeper::refresh() {
  if (!shared_.proof.up()) return;
  const TimePoint now = loop_.clock();
  for (FillRequest& request : refresher_.due(now)) filler_.request(std::move(request), now);
}

void CopyKeeper::filled(const FillRequest& asked, FillOutcome outcome, const std::string& why) {
  const TimePoint now = loop_.clock();
  shared_.key_loads.add(asked.hash, -kCommandsPerFill);
  refresher_.filled(asked, outcome, now);
  if (chooser_ && outcome == FillOutcome::kKept) {
    if (const cache::Copy* copy = shared_.table.copy(asked.hash, asked.read))
      chooser_->filled(asked.hash, copy->deadline - copy->fill_sent_at);
  }
  if (outcome != FillOutcome::kFailed) savings_.filled(asked.hash);
  count_refusal(outcome);
  log_refusal(asked, outcome, why);
  warmer_.filled(asked, outcome, now, why);
  if (warm_waiters_.empty()) return;
  apply_warming_changes(now);
  answer_warm_waiters(now);
}

void CopyKeeper::count_refusal(FillOutcome outcome) {
  if (outcome == FillOutcome::kTooBig) counters_.add(Count::kTooBig);
  if (outcome == FillOutcome::kNoRoom || outcome == FillOutcome::kTableFull)
    counters_.add(Count::kNoRoom);
}

// Configured warmings and copies of hot keys have no caller that could report the error, so the log
// does.
void CopyKeeper::log_refusal(const FillRequest& asked, FillOutcome outcome,
                             const std::string& why) {
  if (outcome == FillOutcome::kTableFull) {
    log_limited(LogLevel::kWarning, "table-full",
                "hot keys get no local copies: " + why + " (heatsink_tracked_keys): raise it",
                loop_.now());
  } else if (outcome == FillOutcome::kNoDatabase && warmer_.holds(asked.hash)) {
    log_limited(LogLevel::kWarning, "warm-database",
                "keys are not warmed: " + why + ": allow SELECT, or warm keys of database 0",
                loop_.now());
  }
}

// Records in the event log how many copies an outage may serve.
void CopyKeeper::proof_state_changed(const std::string& reason) {
  const bool ended = reason.empty();
  shared_.contact_changes.fetch_add(1, std::memory_order_relaxed);
  if (ended) master_.note_proof();
  if (!ended && tracker_.found_replica()) writes_refused();
  if (ended && !std::exchange(outage_reported_, false)) return;
  std::size_t copies = 0;
  Nanos longest{0};
  shared_.table.for_each_copy([&](const cache::Entry& entry, const cache::Copy&) {
    copies += entry.consistency().stale_while_error > Nanos(0) ? 1U : 0U;
    longest = std::max(longest, entry.consistency().stale_while_error);
  });
  if (!ended && longest == Nanos(0)) return;
  outage_reported_ = !ended;
  events_.add_outage(ended ? "the server answers again: copies from before are no longer served"
                           : std::to_string(copies) + (copies == 1 ? " copy" : " copies") +
                                 " may be served for up to " + format_duration(longest) +
                                 " after the last proof (stale-while-error): " + reason,
                     loop_.clock());
}

// One that a client waits for is never refused: each of its requests under way asks for one at
// most. Copies that a refused one would have dropped go at the end of the keeper's turn.
void CopyKeeper::request_barrier(BarrierRequest request) {
  const auto work = [this, request] { filler_.barrier(request); };
  if (request.session != 0) return loop_.post(work);
  if (!loop_.try_post(work)) flush_missed_.store(true);
}

void CopyKeeper::check_access(std::size_t worker, std::uint64_t session) {
  loop_.post([this, worker, session] {
    access_.check([this, worker, session] { release({worker, session, false}); });
  });
}

void CopyKeeper::deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) {
  answers_[worker].push_back(std::move(answer));
}

void CopyKeeper::deliver_answers() {
  for (std::size_t worker = 0; worker < answers_.size(); ++worker)
    if (!answers_[worker].empty()) workers_[worker]->deliver(std::exchange(answers_[worker], {}));
}

void CopyKeeper::release(const BarrierRequest& waited) {
  deliver_answers();
  workers_[waited.worker]->release(waited.session, waited.ticket);
}

void CopyKeeper::learn(const redis::ServerFacts& facts) {
  shared_.upstream_open.store(facts.open, std::memory_order_relaxed);
  shared_.is_cluster_node.store(facts.cluster, std::memory_order_relaxed);
  // Later: this is the tracker's own call.
  if (facts.cluster && shared_.upstream.unix_path.empty() && !cluster_.has_begun())
    loop_.post([this] { begin_cluster(); });
  // The version proves that the login worked.
  if (!facts.version.empty()) rights_.check(facts.cluster, loop_.clock());
  if (!facts.commands) return;
  shared_.upstream_address.contacts.fetch_add(1);
  for (KeeperListener* worker : workers_) worker->set_commands(facts.commands);
}

void CopyKeeper::rights_changed() {
  access_.check({});
  rights_.check_again(loop_.clock());
}

// If the tracker sees its user's rights, and new clients run as that same user (default), the
// server reports every change. Otherwise a probe must check.
void CopyKeeper::check_access_if_unreported() {
  if (!source().rights_known() || shared_.credentials().acl_user() != "default") access_.check({});
}

void CopyKeeper::connection_renewed(TimePoint lost_at) {
  loop_.post([this, lost_at] {
    tracker_connection_.renew(lost_at);
    audit_reader_.renew(lost_at);
  });
}

// ---- audits

void CopyKeeper::audit(AuditedHit hit) {
  static_cast<void>(loop_.try_post(
      [this, hit = std::move(hit)]() mutable { auditor_.check(std::move(hit), loop_.clock()); }));
}

void CopyKeeper::watch_suspects() {
  if (!auditor_.watches() || suspects_timer_ != 0) return;
  suspects_timer_ = loop_.call_after(Auditor::kLookInterval, [this] {
    suspects_timer_ = 0;  // the turn of this timer ends in watch_suspects() again
    auditor_.look(loop_.clock());
  });
}

// The server may have failed to report other changes, too, so all copies go.
void CopyKeeper::stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint now) {
  const auto late_ms = std::chrono::duration_cast<Millis>(for_at_least).count();
  const std::string command = upper_name(local_reads()[hit.read.command()]);
  events_.add_stale_read(shared_.shown.show(hit.key), hit.db,
                         "the local copy for " + command + " could be served " +
                             std::to_string(late_ms) +
                             " ms after the server had another value, so all copies were dropped",
                         now);
  filler_.flush_all();
}

// ---- hot keys (judged in copy_keeper_counts.cc)

std::size_t CopyKeeper::hot_keys() const {
  const auto hot = std::count_if(selector_.verdicts().begin(), selector_.verdicts().end(),
                                 [](const detect::Verdict& verdict) {
                                   return verdict.temperature != detect::Temperature::kWarm;
                                 });
  return static_cast<std::size_t>(hot) + warmer_.size();
}

void CopyKeeper::apply(const std::vector<detect::Change>& changes) {
  for (const detect::Change& change : changes) {
    if (change.kind == detect::Change::Kind::kNotice) continue;  // a notice is for people only
    const bool promoted = change.kind == detect::Change::Kind::kPromote;
    counters_.add(promoted ? Count::kPromotions : Count::kDemotions);
    const KeyHash key = change.verdict.count.hash;
    if (!promoted && !warmer_.holds(key)) cool_down(change.verdict.count);
  }
  if (!shared_.options().cache_enabled) return;
  // Hot keys that found no room are tried again, because another key may have left.
  for (const detect::Verdict& verdict : selector_.verdicts()) {
    if (verdict.temperature != detect::Temperature::kHot) continue;
    const KeyHash key = verdict.count.hash;
    if (!is_worth_holding(verdict)) {
      if (!warmer_.holds(key)) shared_.table.release(key);
    } else if (!shared_.table.hold(key)) {
      promote(verdict);
    }
  }
}

// A rule or option may want copies of hot keys whatever they cost.
bool CopyKeeper::is_worth_holding(const detect::KeyCount& count) const {
  if (!chooser_) return true;
  const cache::Entry* const entry = shared_.table.entry(count.hash);
  if (chooser_->is_worth_holding(count, entry != nullptr && entry->stays())) return true;
  return copies_for(count) != policy::CopiesFor::kWhatPays;
}

bool CopyKeeper::is_worth_holding(const detect::Verdict& verdict) const {
  return is_worth_holding(verdict.count) || is_worth_holding_in_fleet(verdict);
}

policy::CopiesFor CopyKeeper::copies_for(const detect::KeyCount& count) const {
  return shared_.copies_for()[shared_.rule_of(count.key, !count.key_truncated)];
}

// A key that is no longer hot may still be worth its copy: then it stays until it is evicted.
void CopyKeeper::cool_down(const detect::KeyCount& count) {
  if (copies_for(count) == policy::CopiesFor::kWhatPays) {
    shared_.table.release(count.hash);
  } else {
    shared_.table.demote(count.hash);
  }
}

// Accesses per second, whatever measure made the key hot.
double CopyKeeper::accesses_rate(const detect::Verdict& verdict) const {
  if (verdict.measure.dimension == detect::Dimension::kRequests) return verdict.rate;
  const double seconds = counted_seconds(verdict.measure);
  if (seconds <= 0) return 0;
  return static_cast<double>(verdict.count.reads + verdict.count.writes) / seconds;
}

void CopyKeeper::promote(const detect::Verdict& verdict) {
  const detect::KeyCount& count = verdict.count;
  if (count.key_truncated) return;  // its whole name is unknown
  const std::size_t rule = shared_.rule_of(count.key);
  const cache::ConsistencyPolicy& consistency = shared_.consistency()[rule];
  if (shared_.copies_for()[rule] == policy::CopiesFor::kNone) return;
  const bool makes_room = shared_.copies_for()[rule] == policy::CopiesFor::kWhatPays;
  if (!makes_room && !shared_.table.has_room()) return;
  const NameHash name = hash_name(count.key, shared_.seed);
  const TimePoint now = loop_.clock();
  // A hot key has more readers than one that only pays, so it takes that one's entry.
  if (makes_room) {
    static_cast<void>(shared_.table.admit(count.key, count.db, count.hash, name, now, consistency));
    static_cast<void>(shared_.table.hold(count.hash));
  } else {
    static_cast<void>(
        shared_.table.promote(count.key, count.db, count.hash, name, now, consistency));
  }
}

}  // namespace heatsink::copies
