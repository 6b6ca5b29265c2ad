// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/keeper.h"

#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <future>
#include <optional>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr std::size_t kMergedKeys = 4096;

constexpr Nanos kWarmInterval = Millis(100);  // how late a key may be loaded again, or let go

// With no client and no copy there is nothing to keep true: the keeper only looks whether the
// server is there. For so long it stays awake after it had something to do.
constexpr Nanos kRestPeriod = std::chrono::seconds(1);
constexpr Nanos kAwakeFor = std::chrono::seconds(3);

// A reader's heartbeats keep the connection known to be alive, no more.
constexpr Nanos kReaderHeartbeat = std::chrono::seconds(1);
constexpr Nanos kReaderRest = std::chrono::seconds(10);

redis::TrackerOptions tracker_options(const SharedState& shared) {
  const ProxyOptions& options = shared.options;
  redis::TrackerOptions tracker;
  tracker.credentials = shared.credentials;
  tracker.heartbeat_key = options.heartbeat_key;
  tracker.heartbeat_interval = options.heartbeat_interval;
  tracker.max_staleness = longest_staleness(shared.terms);
  tracker.fill_timeout = options.max_staleness;
  tracker.response_timeout = options.response_timeout;
  tracker.value_bytes_max = options.maximum_value_bytes.count;
  tracker.names_max = static_cast<std::size_t>(options.maximum_tracked_keys);
  tracker.rights_interval = options.acl_staleness / 2;
  return tracker;
}

redis::TrackerOptions reader_options(const SharedState& shared) {
  redis::TrackerOptions reader = tracker_options(shared);
  reader.name = "heatsink-auditor";
  reader.tracking = false;
  reader.rights_interval = Nanos(0);
  reader.heartbeat_interval = kReaderHeartbeat;
  reader.rest_interval = kReaderRest;
  reader.max_staleness = reader.fill_timeout = reader.response_timeout;
  return reader;
}

bool audits(const ProxyOptions& options) {
  return options.cache_enabled && options.audit_rate.part > 0;
}

}  // namespace

Keeper::Keeper(SharedState& shared)
    : shared_(shared),
      filler_(shared, counters_, *this),
      tracker_(tracker_options(shared), filler_),
      toucher_(shared.table, tracker_),
      refresher_(shared, counters_),
      warmer_(shared),
      searches_(loop_, shared, warmer_),
      plans_(shared.options.warming),
      link_(loop_, shared.place, tracker_, shared.link_options(), "no local copies"),
      access_(loop_, shared),
      rights_(loop_, shared),
      inspector_(loop_, shared),
      auditor_(shared, counters_, *this),
      reader_(reader_options(shared), auditor_),
      reader_link_(loop_, shared.place, reader_, shared.link_options(),
                   "no audits of local copies"),
      summaries_(shared.rules.measures().size(),
                 std::vector<detect::Summary>(static_cast<std::size_t>(shared.options.workers))),
      merged_(shared.rules.measures().size()),
      selector_(selector_options(shared.options, shared.rules)),
      automatic_(shared.options.automatic_qps, Limits::kAutomaticMax),
      coalescing_windows_(coalescing_windows(shared.options)),
      events_(quiet_sentence(shared.options)),
      started_at_(BootClock::now()),
      timers_(loop_, kRestPeriod),
      woken_at_(started_at_) {
  filler_.use(tracker_);
  auditor_.use(reader_);
}

Keeper::~Keeper() = default;

void Keeper::run() {
  loop_.on_turn_end([this] {
    filler_.send_barriers(BootClock::now());
    search();
    link_.flush();
    reader_link_.flush();
    watch_suspects();
    shared_.epochs.collect();
  });
  // Twice as often as heartbeats are due, so that a tick that comes late costs half an interval.
  timers_.every(shared_.options.heartbeat_interval / 2, [this] {
    const bool idle = shared_.table.copies() == 0;
    tracker_.rest(idle);
    reader_.rest(idle);
    shared_.tracked_keys.store(tracker_.tracked_names(), std::memory_order_relaxed);
    link_.tick();
  });
  timers_.every(shared_.options.acl_staleness / 4, [this] { filler_.tick(BootClock::now()); });
  if (shared_.options.detection_enabled) timers_.every(shared_.options.tick, [this] { judge(); });
  timers_.every(Toucher::kInterval, [this] {
    toucher_.round(BootClock::now());
    rights_.tick(BootClock::now());
    link_.flush();
  });
  timers_.every(shared_.options.refresh_interval, [this] { refresh(); });
  timers_.every(kWarmInterval, [this] { keep_warm(); });
  timers_.every(KeyInspector::kTick, [this] { inspector_.tick(BootClock::now()); });
  timers_.every(shared_.options.acl_staleness / 2, [this] { check_access_if_untold(); });
  timers_.every(kRestPeriod, [this] { rest_if_idle(); });
  link_.connect();
  if (audits(shared_.options)) {
    loop_.call_every(kReaderHeartbeat, [this] { reader_link_.tick(); });
    reader_link_.connect();
  }
  loop_.run();
}

void Keeper::stop() { loop_.stop(); }

bool Keeper::has_work() const {
  // While a window still has accesses in it, workers still hold what they have needed for them.
  const bool seen = std::any_of(merged_.begin(), merged_.end(),
                                [](const detect::Summary& merged) { return merged.requests > 0; });
  return seen || shared_.clients.load() > 0 || shared_.table.copies() > 0 || warmer_.size() > 0 ||
         !warm_waiters_.empty() || search_timer_ != 0;
}

// A client that comes at this moment either is seen here, or sees that the keeper rests.
void Keeper::rest_if_idle() {
  const TimePoint now = BootClock::now();
  if (has_work()) woken_at_ = now;
  if (timers_.slow() || now - woken_at_ < kAwakeFor) return;
  rests_.store(true);
  if (has_work()) return wake();
  timers_.slow_down();
  malloc_trim(0);  // what clients have left behind; it holds up nobody: nobody is connected
}

void Keeper::wake() {
  rests_.store(false);
  woken_at_ = BootClock::now();
  timers_.wake();
}

void Keeper::client_came() {
  if (rests_.load()) loop_.post([this] { wake(); });
}

void Keeper::request_fill(FillRequest request) {
  loop_.post([this, request = std::move(request)] { ask_or_wait(request); });
}

void Keeper::ask_or_wait(const FillRequest& request) {
  const TimePoint now = BootClock::now();
  const Nanos wait = filler_.wait_for_expiry(request, now);
  if (wait == Nanos(0)) return filler_.request(request, now);
  loop_.call_after(wait, [this, request] { filler_.request(request, BootClock::now()); });
}

void Keeper::refresh() {
  if (!shared_.lease.up()) return;
  const TimePoint now = BootClock::now();
  for (const FillRequest& request : refresher_.due(now)) filler_.request(request, now);
}

void Keeper::filled(const FillRequest& asked, FillOutcome outcome, const std::string& why) {
  const TimePoint now = BootClock::now();
  refresher_.filled(asked, outcome, now);
  tell_of_refusal(asked, outcome, why);
  warmer_.filled(asked, outcome, now, why);
  if (warm_waiters_.empty()) return;
  take_warm_turns(now);
  answer_warm_waiters(now);
}

// Nobody waits for the answer to an order by the clock, or for the copy of a hot key.
void Keeper::tell_of_refusal(const FillRequest& asked, FillOutcome outcome,
                             const std::string& why) {
  if (outcome == FillOutcome::kTableFull) {
    log_limited(LogLevel::kWarning, "table-full",
                "hot keys get no copies: " + why + " (heatsink_tracked_keys)", loop_.now());
  } else if (outcome == FillOutcome::kNoDatabase && warmer_.holds(asked.hash)) {
    log_limited(LogLevel::kWarning, "warm-database", "keys are not warmed: " + why, loop_.now());
  }
}

// What may be served meanwhile is marked, for whoever looks for it later.
void Keeper::lease_changed(const std::string& reason) {
  const bool ended = reason.empty();
  if (ended && !std::exchange(outage_told_, false)) return;
  std::size_t copies = 0;
  Nanos longest{0};
  shared_.table.for_each_copy([&](const cache::Entry& entry, const cache::Copy&) {
    copies += entry.terms().stale_while_error > Nanos(0) ? 1U : 0U;
    longest = std::max(longest, entry.terms().stale_while_error);
  });
  if (!ended && longest == Nanos(0)) return;
  outage_told_ = !ended;
  events_.add_outage(ended ? "the server answers again: no copy from before is served"
                           : std::to_string(copies) + (copies == 1 ? " copy" : " copies") +
                                 " may be served up to " + format_duration(longest) +
                                 " past the last proof (stale-while-error): " + reason,
                     BootClock::now());
}

void Keeper::request_barrier(BarrierRequest request) {
  loop_.post([this, request] { filler_.barrier(request); });
}

void Keeper::check_access(std::size_t worker, std::uint64_t session) {
  loop_.post([this, worker, session] {
    access_.check([this, worker, session] { release({worker, session, false}); });
  });
}

void Keeper::post_summaries(std::size_t worker, std::vector<detect::Summary> summaries,
                            bool urgent) {
  auto shared = std::make_shared<std::vector<detect::Summary>>(std::move(summaries));
  loop_.post([this, worker, shared, urgent] {
    for (std::size_t i = 0; i < shared->size(); ++i)
      summaries_[i][worker] = std::move((*shared)[i]);
    if (urgent) judge();
  });
}

void Keeper::deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) {
  Worker* const to = workers_[worker];
  to->post([to, answer = std::move(answer)] { to->on_filled(answer); });
}

void Keeper::release(const BarrierRequest& waited) {
  Worker* const to = workers_[waited.worker];
  to->post([to, waited] { to->release(waited.session, waited.ticket); });
}

void Keeper::learn(const redis::ServerFacts& facts) {
  shared_.upstream_open.store(facts.open, std::memory_order_relaxed);
  if (!facts.version.empty()) rights_.check(facts.cluster, BootClock::now());  // it has let us in
  if (!facts.commands) return;
  shared_.contacts.fetch_add(1);
  for (Worker* worker : workers_) {
    worker->post([worker, commands = facts.commands] { worker->set_commands(commands); });
  }
}

void Keeper::rights_changed() {
  access_.check({});
  rights_.check_again(BootClock::now());
}

// If the tracker is told of its user's rights and that is also who a client is that has said
// nothing, a change will be told.
void Keeper::check_access_if_untold() {
  if (!tracker_.rights_known() || shared_.credentials.acl_user() != "default") access_.check({});
}

void Keeper::server_is_back() {
  loop_.post([this] { link_.retry(); });
}

void Keeper::lane_renewed(TimePoint lost_at) {
  loop_.post([this, lost_at] {
    link_.renew(lost_at);
    reader_link_.renew(lost_at);
  });
}

// ---- whether what was served was right

void Keeper::audit(AuditedHit hit) {
  loop_.post(
      [this, hit = std::move(hit)]() mutable { auditor_.check(std::move(hit), BootClock::now()); });
}

void Keeper::watch_suspects() {
  if (!auditor_.watches() || suspects_timer_ != 0) return;
  suspects_timer_ = loop_.call_after(Auditor::kLookInterval, [this] {
    suspects_timer_ = 0;  // the turn that this makes ends here again
    auditor_.look(BootClock::now());
  });
}

// Whatever else the server has not told is gone with this copy.
void Keeper::stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint now) {
  const auto late_ms = std::chrono::duration_cast<Millis>(for_at_least).count();
  std::string command(local_reads()[hit.read.command()].name);
  std::transform(command.begin(), command.end(), command.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  events_.add_stale_read(shared_.shown.show(hit.key), hit.db,
                         "the copy of a " + command + " could be served " +
                             std::to_string(late_ms) +
                             " ms after the server had another value: all copies are dropped",
                         now);
  filler_.on_flush();
}

// ---- what is hot

void Keeper::judge() {
  for (std::size_t i = 0; i < merged_.size(); ++i)
    merged_[i] = detect::merge(summaries_[i], kMergedKeys);
  std::vector<detect::Change> changes = selector_.update(merged_);
  apply(changes);
  // Of a warmed key it is told when that is over.
  std::erase_if(changes, [this](const detect::Change& change) {
    return change.kind == detect::Change::Kind::kDemote &&
           change.verdict.temperature != detect::Temperature::kWriteHot &&
           warmer_.holds(change.verdict.count.hash);
  });
  for (detect::Change& change : changes) shared_.shown.hide(change.verdict.count);
  events_.add(changes, hot_keys(), loop_.now());
  if (shared_.limits && shared_.limits->automatic() != nullptr) limit_the_hottest(loop_.now());
  shared_.table.retry(loop_.now());
}

std::size_t Keeper::hot_keys() const {
  const auto hot = std::count_if(selector_.verdicts().begin(), selector_.verdicts().end(),
                                 [](const detect::Verdict& verdict) {
                                   return verdict.temperature != detect::Temperature::kWarm;
                                 });
  return static_cast<std::size_t>(hot) + warmer_.size();
}

void Keeper::apply(const std::vector<detect::Change>& changes) {
  bool changed = false;
  for (const detect::Change& change : changes) {
    if (change.kind == detect::Change::Kind::kNotice) continue;  // for people only
    const bool promoted = change.kind == detect::Change::Kind::kPromote;
    counters_.add(promoted ? Count::kPromotions : Count::kDemotions);
    const KeyHash key = change.verdict.count.hash;
    if (!promoted && !warmer_.holds(key)) shared_.table.demote(key);
    changed = true;
  }
  if (!shared_.options.cache_enabled) return;
  // Hot keys that found no place when they became hot are tried again: somebody may have left.
  for (const detect::Verdict& verdict : selector_.verdicts()) {
    if (verdict.temperature != detect::Temperature::kHot) continue;
    if (shared_.table.entry(verdict.count.hash) == nullptr && promote(verdict)) changed = true;
    shared_.table.set_rate(verdict.count.hash, accesses_rate(verdict));
  }
  if (changed) shared_.table.publish();
}

// What the cache weighs copies by: accesses per second, whatever made the key hot.
double Keeper::accesses_rate(const detect::Verdict& verdict) const {
  if (verdict.measure.dimension == detect::Dimension::kRequests) return verdict.rate;
  const double seconds = std::chrono::duration<double>(verdict.measure.window).count();
  return static_cast<double>(verdict.count.reads + verdict.count.writes) / seconds;
}

bool Keeper::promote(const detect::Verdict& verdict) {
  const detect::KeyCount& count = verdict.count;
  if (count.key_truncated) return false;  // its whole name is not known
  const cache::Terms& terms = shared_.terms_of(count.key);
  if (terms.level == cache::Level::kOff) return false;
  const NameHash name = hash_name(count.key, shared_.seed);
  if (!shared_.table.promote(count.key, count.db, count.hash, name, terms)) return false;
  // While it was not hot, replies were handed on without a fence: no fill of an earlier residence
  // may come back behind them.
  shared_.fences.raise(name, BootClock::now());
  return true;
}

// ---- what a person is shown

detect::Report Keeper::report() {
  auto answer = std::make_shared<std::promise<detect::Report>>();
  std::future<detect::Report> future = answer->get_future();
  loop_.post([this, answer] { answer->set_value(make_report()); });
  if (future.wait_for(std::chrono::seconds(1)) == std::future_status::ready) return future.get();
  detect::Report report;
  report.coherence = "the proxy's keeper thread does not answer";
  return report;
}

detect::Report Keeper::make_report() {
  const detect::Summary& node = merged_.front();
  const double seconds = node.seconds();
  const auto rate = [seconds](std::uint64_t count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
  };
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const detect::Rule& base = shared_.rules.rules().front();
  detect::Report report;
  report.at = BootClock::now();
  report.window = shared_.options.window;
  report.uptime = report.at - started_at_;
  report.upstream = shared_.upstream.where();
  report.upstream_up = link_.problem().empty() || is_refused_a_right();
  report.coherence = coherence();
  report.requests_rate = rate(node.requests);
  report.reads_rate = rate(node.reads);
  report.writes_rate = rate(node.writes);
  report.hits_rate = rate(node.hits);
  report.misses_rate = rate(node.reads - std::min(node.reads, node.hits));
  report.hit_ratio = ratio(node.hits, node.reads);
  report.offload = ratio(node.hits, node.requests);
  report.dimension = base.measure.dimension;
  report.hot = base.hot;
  report.warm = base.warm;
  report.rules = shared_.options.rules.size();
  report.workers = static_cast<std::uint64_t>(shared_.options.workers);
  report.redacted = shared_.shown.redacts();
  report.hot_means = hot_definition(shared_.options);
  report.quiet = events_.quiet();
  report.sampled = std::any_of(merged_.begin(), merged_.end(),
                               [](const detect::Summary& merged) { return merged.sampled; });
  report.absent_max = detect::absent_max(node, selector_.verdicts());
  report.clients = shared_.clients.load(std::memory_order_relaxed);
  report.cached_entries = shared_.table.copies();
  report.cached_bytes = shared_.table.bytes().count;
  report.stale_confirmed = counters_.read(Count::kAuditsStale);
  for (const detect::Verdict& by_rate : selector_.verdicts()) {
    const bool is_warmed = warmer_.holds(by_rate.count.hash);
    const detect::Verdict verdict = is_warmed ? as_warmed(by_rate, report.at) : by_rate;
    report.keys.push_back(report_on(verdict));
    if (verdict.temperature == detect::Temperature::kHot) ++report.hot_keys;
    if (verdict.temperature == detect::Temperature::kWriteHot) ++report.write_hot_keys;
  }
  add_warmed(report);
  return report;
}

detect::KeyReport Keeper::report_on(const detect::Verdict& verdict) const {
  detect::KeyReport key;
  key.verdict = verdict;
  shared_.shown.hide(key.verdict.count);
  const std::size_t rule =
      shared_.rules.place_of(shared_.rules.of(verdict.count.key, !verdict.count.key_truncated));
  const cache::Terms& terms = shared_.terms[rule];
  key.warmed = warmer_.holds(verdict.count.hash);
  if (!coalescing_windows_.empty()) key.coalesce = coalescing_windows_[rule];
  key.stale_while_error = terms.stale_while_error;
  const bool off = !shared_.options.cache_enabled || terms.level == cache::Level::kOff;
  key.level = to_string(off ? cache::Level::kOff : terms.level);
  if (!off && terms.level != cache::Level::kTtl) key.max_staleness = terms.max_staleness;
  const cache::Entry* entry = shared_.table.entry(verdict.count.hash);
  key.cached = shared_.table.has_copy(verdict.count.hash);
  key.reply_bytes = shared_.table.reply_size(verdict.count.hash);
  if (shared_.limits) {
    key.limit = limit_on(verdict.count);
    key.limited_rate = shared_.limits->limited_rate(verdict.count.hash, loop_.now());
  }
  if (key.cached) return key;
  if (verdict.temperature == detect::Temperature::kWriteHot) {
    key.cache_note = "it is written too often for its reads";
  } else if (verdict.temperature != detect::Temperature::kHot) {
    key.cache_note = "it is not hot";
  } else if (!shared_.options.cache_enabled) {
    key.cache_note = "cache.enabled is false";
  } else if (off) {
    key.cache_note = "its level is off";
  } else if (entry == nullptr) {
    key.cache_note =
        verdict.count.key_truncated ? "its name is too long" : "cache.maximum-size is used up";
  } else {
    key.cache_note = cache::to_string(entry->uncacheable());
    if (key.cache_note.empty())
      key.cache_note = shared_.lease.up() ? "no read since its last change" : coherence();
  }
  return key;
}

std::string Keeper::coherence() const {
  if (!shared_.options.cache_enabled) return "off (cache.enabled is false)";
  if (link_.problem().empty()) return filler_.state();
  const std::string rights = is_refused_a_right() ? rights_.against_copies() : "";
  return link_.problem() + (rights.empty() ? "" : "; " + rights);
}

// Such a server is there, and serves clients as before: only copies need the right.
bool Keeper::is_refused_a_right() const {
  return link_.problem().find("NOPERM") != std::string::npos;
}

}  // namespace heatsink::proxy
