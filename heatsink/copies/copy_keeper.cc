// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_keeper.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kWarmInterval = Millis(100);  // the delay with which a key is reloaded or released
constexpr Nanos kMapInterval = Millis(100);
constexpr Nanos kLooksAgainAfter = Millis(1);  // for the replies of uncounted writes

report::BothClocks both_clocks(TimePoint now) { return {now, std::chrono::system_clock::now()}; }

}  // namespace

CopyKeeper::CopyKeeper(NodeState& shared, std::unique_ptr<net::Poller> poller)
    : shared_(shared),
      loop_(std::move(poller)),
      started_at_(loop_.clock()),
      inbox_(static_cast<std::size_t>(shared.options().workers)),
      near_mail_(
          inbox_.workers(), [this](std::size_t worker) { workers_[worker]->hear_near(); },
          [this](const HeldWriter& held) { workers_[held.worker]->release(held.session, 0); }),
      events_(policy::quiet_sentence(shared.options())),
      filler_(shared, counters_, *this),
      auditor_(shared, counters_, *this),
      servers_(shared, loop_, filler_, auditor_, *this),
      replicas_(shared, loop_),
      refresher_(shared, counters_),
      warming_(shared, loop_, *this),
      hot_keys_(shared),
      admission_(shared, counters_, warming_.warmer(), started_at_),
      orders_(shared, hot_keys_, admission_, events_),
      limits_(shared, events_),
      offload_(shared, counters_),
      heat_writer_(shared.shown, shared.cluster, shared.slot_counts, shared.heat),
      outages_(shared, events_),
      report_({shared, counters_, hot_keys_, admission_, warming_, servers_, limits_, events_,
               offload_},
              started_at_),
      verdicts_(shared, inbox_.workers(),
                [this](std::size_t worker) { workers_[worker]->hear_verdicts(); }),
      sign_of_life_(started_at_),
      rest_(shared, loop_, started_at_),
      queries_({shared, loop_, rest_, warming_, report_, hot_keys_, admission_, orders_}) {}

CopyKeeper::~CopyKeeper() = default;

void CopyKeeper::serve(std::vector<KeeperListener*> workers) {
  workers_ = std::move(workers);
  answers_.resize(workers_.size());
  offload_.serve(workers_);
}

// ---- the turn

void CopyKeeper::begin() {
  loop_.on_turn_end([this] { end_turn(); });
  begin_timers();
  servers_.begin(rest_.timers());
  // A new list of the fleet is judged at once; the tick may be a second away.
  hot_keys_.begin_fleet(loop_, [this] { pace_.ask(); });
  replicas_.begin();
  rest_.timers().every(kMapInterval, [this] { replicas_.tick(); });
}

// At rest they run in this order.
void CopyKeeper::begin_timers() {
  const policy::ProxyOptions& options = shared_.options();
  PacedTimers& timers = rest_.timers();
  periods_.heartbeat = timers.every(options.heartbeat_interval / 2, [this] { servers_.tick(); });
  periods_.filler =
      timers.every(options.acl_staleness / 4, [this] { filler_.tick(loop_.clock()); });
  if (options.detection_enabled)
    periods_.hot_keys = timers.every(options.tick, [this] { pace_.ask(); });
  timers.every(IdleKeepAlive::kInterval, [this] { servers_.keep_keys_alive(); });
  periods_.refresh = timers.every(options.refresh_interval, [this] { refresh(); });
  timers.every(kWarmInterval, [this] {
    warming_.tick(loop_.clock());
    offload_.note(loop_.clock());
  });
  timers.every(KeyInspector::kTick, [this] { queries_.tick(loop_.clock()); });
  periods_.access =
      timers.every(options.acl_staleness / 2, [this] { servers_.check_access_if_unreported(); });
  timers.every(KeeperRest::kPeriod, [this] { each_second(); });
}

void CopyKeeper::each_second() {
  sign_of_life_.give(loop_.clock());
  if (admission_.has_choice()) admission_.tick(loop_.clock(), loop_.cpu_time());
  count_departures();
  log_summaries(loop_.now());
  note_heat();
  rest_.trim_after_burst(loop_.now());
  rest_.look([this] { return has_work(); }, loop_.clock());
}

// All barriers of the turn share one command, and its output one write.
void CopyKeeper::end_turn() {
  if (flush_missed_.exchange(false)) filler_.flush_all();
  judge_if_due();
  follow_keys();
  filler_.send_barriers(loop_.clock());
  deliver_answers();
  warming_.end_turn(loop_.clock());
  servers_.end_turn();
  shared_.epochs.collect();
}

// While a window still contains accesses, the workers hold memory for them.
bool CopyKeeper::has_work() const {
  return hot_keys_.has_accesses() || shared_.workers_awake.load() > 0 ||
         shared_.table.copies() > 0 || warming_.has_work();
}

// ---- fills and barriers

void CopyKeeper::send_fills() {
  if (const std::size_t count = fill_inbox_.untold(); count > 0)
    loop_.post([this, count] { take_fills(count); });
}

void CopyKeeper::take_fills(std::size_t count) {
  fill_inbox_.take(count, fills_taken_);
  for (FillRequest& request : fills_taken_) {
    if (request.admits) admission_.admit(request, loop_.clock());
    ask_or_wait(std::move(request));
  }
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
  admission_.filled(asked, outcome);
  log_refusal(asked, outcome, why);
  warming_.filled(asked, outcome, now, why);
}

// Configured warmings and copies of hot keys have no caller that could report the error, so the log
// does.
void CopyKeeper::log_refusal(const FillRequest& asked, FillOutcome outcome,
                             const std::string& why) {
  if (outcome == FillOutcome::kTableFull) {
    log_limited(LogLevel::kWarning, "table-full",
                "hot keys get no local copies: " + why + " (heatsink_tracked_keys): raise it",
                loop_.now());
  } else if (outcome == FillOutcome::kNoDatabase && warming_.warmer().holds(asked.hash)) {
    log_limited(LogLevel::kWarning, "warm-database",
                "keys are not warmed: " + why + ": allow SELECT, or warm keys of database 0",
                loop_.now());
  }
}

// One that a client waits for is never refused: each of its requests under way asks for one at
// most. Copies that a refused one would have dropped go at the end of the keeper's turn.
void CopyKeeper::request_barrier(BarrierRequest request) {
  const auto work = [this, request] { filler_.barrier(request); };
  if (request.session != 0) return loop_.post(work);
  if (!loop_.try_post(work)) flush_missed_.store(true);
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

// ---- servers

void CopyKeeper::learn(const redis::ServerFacts& facts) {
  servers_.learn(facts);
  if (!facts.commands) return;
  shared_.upstream_address.contacts.fetch_add(1);
  for (KeeperListener* worker : workers_) worker->set_commands(facts.commands);
}

void CopyKeeper::server_moved() {
  deliver_answers();
  for (KeeperListener* const worker : workers_) worker->server_moved();
  replicas_.renew();
}

void CopyKeeper::map_changed() {
  for (KeeperListener* const worker : workers_) worker->map_changed();
}

void CopyKeeper::proof_state_changed(const std::string& reason) {
  const bool is_up = reason.empty();
  servers_.proof_state_changed(is_up);
  if (is_up) {
    outages_.proof_is_back(loop_.clock());
  } else {
    outages_.proof_ended(reason, loop_.clock());
  }
}

void CopyKeeper::server_use(cache::ProofIndex server, const redis::ServerUse& use) {
  offload_.answered(server, use, loop_.clock());
  admission_.set_server_scale(offload_.server_scale());
}

void CopyKeeper::check_access(std::size_t worker, std::uint64_t session) {
  loop_.post([this, worker, session] {
    servers_.check_access([this, worker, session] { release({worker, session, false}); });
  });
}

void CopyKeeper::server_is_back() {
  loop_.post([this] { servers_.retry(); });
}

void CopyKeeper::connection_renewed(TimePoint lost_at) {
  loop_.post([this, lost_at] { servers_.renew(lost_at); });
}

// ---- audits

void CopyKeeper::audit(AuditedHit hit) {
  static_cast<void>(loop_.try_post(
      [this, hit = std::move(hit)]() mutable { auditor_.check(std::move(hit), loop_.clock()); }));
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

// ---- hot keys

void CopyKeeper::play(std::size_t worker, const WorkerSample& sample) {
  if (inbox_.put(worker, sample)) loop_.post([this] { take_from_inbox(); });
}

void CopyKeeper::post_summaries(std::size_t worker, std::vector<detect::Summary> summaries,
                                bool urgent) {
  if (inbox_.put(worker, std::move(summaries), urgent)) loop_.post([this] { take_from_inbox(); });
}

void CopyKeeper::take_from_inbox() {
  inbox_.begin_to_take();
  for (std::size_t worker = 0; worker < inbox_.workers(); ++worker) {
    WorkerInbox::Content content = inbox_.take(worker);
    for (detect::Summary& summary : content.summaries) hot_keys_.take(worker, std::move(summary));
    if (content.is_urgent) pace_.ask();
    if (!content.sample.empty()) admission_.play(content.sample, loop_.clock());
  }
}

// At most once per turn.
void CopyKeeper::judge_if_due() {
  if (!pace_.is_asked()) return;
  const TimePoint now = loop_.clock();
  if (now < pace_.from()) {
    if (judge_timer_ == 0) judge_timer_ = loop_.call_at(pace_.from(), [this] { judge_timer_ = 0; });
    return;
  }
  pace_.begin(now);
  judge();
  pace_.end(loop_.clock());
}

void CopyKeeper::judge() {
  std::vector<detect::Change> changes = hot_keys_.judge(loop_.clock());
  verdicts_.judged();
  admission_.follow(changes, hot_keys_.verdicts(), loop_.clock());
  servers_.set_read_from_replicas(replicas_.follow(hot_keys_.verdicts()));
  note_changes(std::move(changes));
  limits_.update(hot_keys_, loop_.now());
  shared_.table.retry(loop_.now());
}

// A warmed key stays hot. Its event follows when the warming ends.
void CopyKeeper::note_changes(std::vector<detect::Change> changes) {
  std::erase_if(changes, [this](const detect::Change& change) {
    return change.kind == detect::Change::Kind::kDemote &&
           change.verdict.temperature != detect::Temperature::kWriteHot &&
           warming_.warmer().holds(change.verdict.count.hash);
  });
  verdicts_.note(changes, both_clocks(loop_.clock()));
  for (detect::Change& change : changes) shared_.shown.hide(change.verdict.count);
  events_.add(changes, hot_count(), loop_.now(), report_.reliefs(loop_.clock()));
}

void CopyKeeper::note_warmed(std::vector<detect::Change> changes, TimePoint now) {
  verdicts_.note(changes, both_clocks(loop_.clock()));
  for (detect::Change& change : changes) shared_.shown.hide(change.verdict.count);
  events_.add(changes, hot_count(), now);
}

void CopyKeeper::ask_verdicts(std::size_t worker) {
  loop_.post([this, worker] {
    const TimePoint now = loop_.clock();
    verdicts_.give_list(
        worker, [this, now] { return report_.busy_verdicts(now); }, both_clocks(now));
  });
}

// Lets the workers count no writes while no key is hot. Before the workers get this turn's answers,
// so that most copies may be served at once.
void CopyKeeper::follow_keys() {
  cache::WriteCounting& counting = shared_.fences.counting();
  if (!counting.follow(shared_.table.none(), shared_.epochs, loop_.now()) || looks_again_) return;
  looks_again_ = true;
  loop_.call_after(kLooksAgainAfter, [this] { looks_again_ = false; });  // and ends a turn
}

// ---- a change of the configuration

void CopyKeeper::adopt(std::shared_ptr<const PolicySnapshot> next, std::function<void()> done) {
  loop_.post([this, next = std::move(next), done = std::move(done)] {
    wake();
    adopt_now(next);
    done();
  });
}

// Publishes it, and makes what the parts keep follow it, without dropping a copy that need not go.
void CopyKeeper::adopt_now(std::shared_ptr<const PolicySnapshot> next) {
  const std::shared_ptr<const PolicySnapshot> before = shared_.held();
  const TimePoint now = loop_.clock();
  // Tokens that a worker takes from the old limits after this moment count there only: at most
  // those of its turn.
  if (next->limits && before->limits) next->limits->take_over(*before->limits, now);
  // While copies are off, writes raise no fences. So copies, and fills that are under way, end
  // before the first such write; and those that were under way then may not be joined afterwards.
  if (before->options.cache_enabled != next->options.cache_enabled) shared_.fences.raise_all(now);
  shared_.publish(std::move(next));
  hot_keys_.follow_policy();
  events_.set_quiet(policy::quiet_sentence(shared_.options()));
  limits_.follow_options(before->options, now);
  // First, so that no retained key leaves the table behind the warmer's back.
  warming_.follow_options(before->options, now);
  admission_.set_table_policies(before->options, servers_.rights_known());
  warming_.record_changes(now);
  admission_.follow_options(offload_.server_scale());
  servers_.follow_options(before->credentials);
  hot_keys_.set_credentials(shared_.credentials());
  adopt_timers(shared_.options());
  replicas_.follow_options();
}

void CopyKeeper::adopt_timers(const policy::ProxyOptions& options) {
  PacedTimers& timers = rest_.timers();
  timers.change(periods_.heartbeat, options.heartbeat_interval / 2);
  timers.change(periods_.filler, options.acl_staleness / 4);
  timers.change(periods_.access, options.acl_staleness / 2);
  timers.change(periods_.refresh, options.refresh_interval);
  if (options.detection_enabled) timers.change(periods_.hot_keys, options.tick);
}

void CopyKeeper::add_config_event(report::Event::Config config, std::string reason) {
  loop_.post([this, config, reason = std::move(reason)]() mutable {
    events_.add_config(config, std::move(reason), loop_.now());
  });
}

void CopyKeeper::add_order_event(std::string reason, report::WarmKey key) {
  loop_.post([this, reason = std::move(reason), key = std::move(key)] {
    orders_.note(reason, key, loop_.now());
  });
}

// ---- what is noted once a second

// The table counts by itself, because it knows no metrics.
void CopyKeeper::count_departures() {
  const auto raise = [this](Count count, std::uint64_t to) {
    counters_.add(count, to - counters_.read(count));
  };
  raise(Count::kWrittenEarly, shared_.table.left_early());
  raise(Count::kEvictedForEntries, shared_.table.evictions(cache::EvictionReason::kEntries).count);
  raise(Count::kEvictedForBytes, shared_.table.evictions(cache::EvictionReason::kBytes).count);
}

void CopyKeeper::note_heat() {
  std::vector<const DurationHistogram*> latencies;
  std::vector<const SampledSizes*> sizes;
  std::vector<const ClientCommands*> clients;
  for (const KeeperListener* const worker : workers_) {
    if (const DurationHistogram* const waits = worker->client_latency()) latencies.push_back(waits);
    if (const SampledSizes* const replies = worker->reply_sizes()) sizes.push_back(replies);
    if (const ClientCommands* const known = worker->client_commands()) clients.push_back(known);
  }
  const TimePoint now = loop_.clock();
  const auto name_of = [this](auto client) { return workers_.front()->client_name(client); };
  heat_writer_.write(hot_keys_.counts_of_all(),
                     {.load = offload_.of_window(now),
                      .cpu = offload_.server_cpu(now),
                      .latencies = latencies,
                      .reply_sizes = sizes,
                      .clients = clients,
                      .client_name = name_of},
                     now);
}

void CopyKeeper::begin_with(const Learned& learned) {
  loop_.post([this, learned] {
    if (learned.server_scale) offload_.believe(*learned.server_scale);
    admission_.begin_with(learned);
    admission_.set_server_scale(offload_.server_scale());
  });
}

void CopyKeeper::warm_all(std::vector<LastingKey> keys, Nanos at_least) {
  loop_.post([this, keys = std::move(keys), at_least] {
    wake();
    warming_.inherit(keys, at_least, loop_.clock());
  });
}

}  // namespace heatsink::copies
