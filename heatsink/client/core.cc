// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/core.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "heatsink/cache/pins.h"
#include "heatsink/client/early_refresh.h"
#include "heatsink/client/errors.h"
#include "heatsink/httpd/httpd.h"

namespace heatsink::client {
namespace {

constexpr std::size_t kKnownMax = 4096;             // keys that a summary lists
constexpr std::uint64_t kBytesPerKey = 250;         // of the recorder
constexpr std::size_t kTemplateBytes = 200'000;     // of all shards, besides that
constexpr std::uint64_t kPerSecondMax = 1'000'000;  // beyond this rate, accesses are sampled
constexpr double kBurst = 0.25;
// In a fleet, keys with this part of a threshold are tracked.
constexpr std::size_t kFleetOf = 256;

detect::RuleSet rules_of(const ClientOptions& options) {
  detect::Rule rule;
  rule.measure.window = options.window;
  detect::set_thresholds(rule, options.hot_qps, options.warm_qps);
  rule.confirm_windows = static_cast<std::uint32_t>(options.confirm_windows);
  rule.demote_ratio = options.demote_ratio;
  rule.minimum_residence = std::min(options.minimum_residence, options.inactive_expire);
  rule.write_hot_ratio = options.write_hot_ratio;
  if (options.fleet_size > 1)
    detect::divide_thresholds(rule, static_cast<std::uint64_t>(options.fleet_size));
  return detect::RuleSet(rule);
}

detect::RecorderOptions recorder_options(const ClientOptions& options, std::uint64_t seed,
                                         const detect::RuleSet& rules) {
  detect::RecorderOptions recorder;
  recorder.window = options.window;
  recorder.memory_bytes = static_cast<std::uint64_t>(options.capacity) * kBytesPerKey;
  recorder.template_bytes = kTemplateBytes;
  recorder.seed = seed;
  recorder.lossless_per_second = kPerSecondMax;
  const detect::RuleSet::ShardCounts counts = rules.shard_counts(0, kBurst, 1);
  recorder.worth_tracking = counts.worth_tracking;
  if (options.fleet_enabled)
    recorder.worth_tracking = rules.shard_counts(0, kBurst, kFleetOf).worth_tracking;
  recorder.urgent_count = counts.urgent_count;
  return recorder;
}

std::size_t shards_of(const ClientOptions& options) {
  if (options.shards != 0) return static_cast<std::size_t>(options.shards);
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
}

detect::SelectorOptions selector_options(const ClientOptions& options,
                                         const detect::RuleSet& rules) {
  detect::SelectorOptions selector;
  selector.rules = rules;
  selector.top_n = static_cast<std::uint32_t>(std::min(options.top_n, options.maximum_size));
  selector.promotion_interval = options.promotion_interval;
  // A key without accesses falls below its threshold within one window, and is demoted then.
  selector.demotion_interval =
      std::min(options.demotion_interval, options.inactive_expire - options.window);
  selector.burst = kBurst;
  return selector;
}

RefreshOptions refresh_options(const ClientOptions& options) {
  return {.interval = std::min(options.refresh_interval, options.expire_after_write * 3 / 4),
          .jitter = options.refresh_jitter,
          .failures_max = static_cast<std::uint32_t>(options.max_failures)};
}

}  // namespace

Core::Core(const ClientOptions& options, Runtime& runtime)
    : options_(options.checked()),
      runtime_(runtime),
      seed_(runtime.draw_seed()),
      rules_(rules_of(options)),
      is_counting_(options.detection_enabled),
      clock_(runtime),
      admission_(admission_of(options)),
      shards_(recorder_options(options, seed_, rules_), shards_of(options), admission_),
      kept_({.keys = static_cast<std::size_t>(options.maximum_size),
             .missing = static_cast<std::size_t>(options.maximum_nil),
             .bytes = static_cast<std::size_t>(options.maximum_bytes.count)}),
      load_group_(static_cast<std::size_t>(options.maximum_waiters), runtime),
      served_until_(options.server_url.empty() ? TimePoint::max() : TimePoint::min()),
      selector_(selector_options(options, rules_)),
      alone_as_(options.fleet_size),
      counts_(options.window),
      schedule_(refresh_options(options)),
      random_(runtime.draw_seed()),
      server_(options.server_url.empty()
                  ? nullptr
                  : std::make_unique<ServerLink>(options, static_cast<ServerListener&>(*this),
                                                 runtime)) {
  if (admission_ != nullptr) chooser_.emplace(chooser_options(), *admission_);
  start_page();  // may throw, so it precedes all threads
  if (server_ != nullptr) server_->start();
  threads_.push_back(runtime.spawn("", [this] { run_keeper(); }));
  for (std::int64_t i = 0; options.refresh_enabled && i < options.refresh_threads; ++i)
    threads_.push_back(runtime.spawn("", [this] { run_refresher(); }));
}

Core::~Core() { close(); }

void Core::enter_forked_child() noexcept {
  is_in_forked_child_ = true;
  is_counting_ = false;
  shards_.abandon();
  served_until_.end_all();
}

void Core::close() {
  if (is_in_forked_child_) return;
  const std::lock_guard once(close_mutex_);
  {
    // Under the locks: otherwise a thread could check is_closed_ just before, and then miss the
    // notification.
    const std::scoped_lock lock(keeper_mutex_, schedule_mutex_);
    is_closed_ = true;
  }
  keeper_wakes_->notify_all();
  schedule_changed_->notify_all();
  if (server_ != nullptr) server_->stop();  // first: background loads may wait for it
  for (const auto& thread : threads_) thread->join();
  threads_.clear();
  page_.reset();
  kept_.clear();
  cache::collect_retired();
}

double Core::random() {
  const std::lock_guard lock(random_mutex_);
  return std::uniform_real_distribution<double>(0, 1)(random_);
}

// ---- loading

SharedCachedValue Core::load(KeyHash hash, const Load& load) {
  count(counters_.misses);
  return load_since(hash, load, TimePoint::min());
}

// A caller that joined a load whose value had already ended needs a later one.
SharedCachedValue Core::load_since(KeyHash hash, const Load& load, TimePoint since) {
  if (is_in_forked_child_) return load();
  const TimePoint wanted_at = now();
  TimePoint not_before = fences_.fence(name_of(hash));
  for (;;) {
    std::shared_ptr<SharedLoad> shared;
    SharedCachedValue cached = load_or_wait(hash, load, since, not_before, shared);
    const bool is_late = wanted_at >= shared->value_ends;
    if (!is_late) return cached;
    not_before = std::max(fences_.fence(name_of(hash)), wanted_at);
  }
}

SharedCachedValue Core::load_or_wait(KeyHash hash, const Load& load, TimePoint since,
                                     TimePoint not_before, std::shared_ptr<SharedLoad>& shared) {
  const LoadGroup::JoinResult joined = load_group_.join(hash, now(), not_before);
  shared = joined.shared;
  switch (joined.role) {
    case LoadGroup::Role::kLeads:
      return complete_with_copy(hash, shared, since) ? shared->cached
                                                     : lead_load(hash, shared, load);
    case LoadGroup::Role::kRefused:
      if (!kept_.is_hot(hash)) return load_alone(hash, load, shared);
      count(counters_.refusals);
      throw LoadRefused("cache.maximum-waiters callers already wait for the load of this key");
    case LoadGroup::Role::kWaits:
      break;
  }
  count(counters_.waits);
  if (!load_group_.wait(*shared, options_.wait_timeout)) {
    if (!kept_.is_hot(hash)) return load_alone(hash, load, shared);
    count(counters_.refusals);
    throw LoadRefused(
        "the load of this key, started by another caller, took longer than cache.wait-timeout");
  }
  return result_of(*shared);
}

SharedCachedValue Core::load_alone(KeyHash hash, const Load& load,
                                   std::shared_ptr<SharedLoad>& shared) {
  shared = std::make_shared<SharedLoad>(now());
  count(counters_.source_loads);
  SharedCachedValue value = load();
  end_cold_load(hash);
  return value;
}

SharedCachedValue Core::result_of(const SharedLoad& shared) {
  if (shared.cached == nullptr) std::rethrow_exception(shared.error);
  if (shared.error != nullptr) count(counters_.stale_served);
  return shared.cached;
}

// Another load may have completed between the caller's look-up and the load that it leads now. Its
// copy is checked like a hit, but after this load has begun: joined callers need a copy that is
// newer than every fence, and a new fence drops the copy.
bool Core::complete_with_copy(KeyHash hash, const std::shared_ptr<SharedLoad>& shared,
                              TimePoint since) {
  const TimePoint now = this->now();
  const TimePoint served_until = this->served_until();  // before the copy, as in a hit
  SharedCachedValue cached = kept_.copy(hash);
  if (cached == nullptr || cached->loaded_at < since) return false;
  const TimePoint ends = std::min(cached->expires_at, proven_until(hash, cached, served_until));
  if (now >= ends) return false;
  shared->value_ends = ends;
  load_group_.complete(hash, shared, std::move(cached), nullptr);
  return true;
}

// `served_until`: of the one server, read before the copy. For a node see is_proven_by_node().
TimePoint Core::proven_until(KeyHash hash, const SharedCachedValue& cached,
                             TimePoint served_until) const {
  if (cached->server == 0) return served_until;
  const TimePoint until = served_until_.of(cached->server);
  return kept_.copy(hash) == cached ? until : TimePoint::min();
}

// Returns true if the value is now the copy.
bool Core::run_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, const Load& load) {
  SharedCachedValue cached;
  std::exception_ptr error;
  bool is_kept = false;
  count(counters_.source_loads);
  try {
    // Before the load: otherwise a change during the load would be missed.
    const Watch watched = watch(hash, shared->sent_at);
    const TimePoint read_at = now();
    std::shared_ptr<CachedValue> fresh = load();
    set_times(*fresh, shared->sent_at, now(), watched.deadline);
    fresh->server = watched.server;
    const TimePoint served_until = served_until_.of(watched.server);  // before keep(), as in a hit
    const KeepResult kept = keep(hash, watched, fresh);
    is_kept = kept.is_kept;
    // The value suits every caller that came until read_at. A later caller needs the proof of a
    // hit: otherwise the key may have changed, or ended, before that caller came.
    if (server_ != nullptr) {
      const TimePoint proven_until = std::min(watched.deadline, served_until);
      shared->value_ends = read_at + Nanos(1);
      if (kept.is_unchanged) shared->value_ends = std::max(shared->value_ends, proven_until);
    }
    cached = std::move(fresh);
  } catch (...) {
    error = std::current_exception();
    cached = stale_instead(hash);
  }
  load_group_.complete(hash, shared, std::move(cached), std::move(error));
  return is_kept;
}

SharedCachedValue Core::lead_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared,
                                  const Load& load) {
  count(counters_.loads);
  const bool is_kept = run_load(hash, shared, load);
  if (shared->error != nullptr) count(counters_.load_failures);
  if (is_kept && options_.refresh_enabled && kept_.is_hot(hash))
    refresh_later(hash, load, shared->cached->loaded_at);
  return result_of(*shared);
}

// Null: no copy is young enough.
SharedCachedValue Core::stale_instead(KeyHash hash) const {
  if (server_ != nullptr) return nullptr;
  SharedCachedValue old = kept_.copy(hash);
  const bool may = old != nullptr && now() < old->expires_at + options_.stale_while_error;
  return may ? old : nullptr;
}

// A load that began before a write of the key ended may have missed that write. With a server, a
// value that was shown must not be replaced by the value of an earlier load. So each load raises
// the fence when it ends, and drops the copy unless it has just replaced it. A background load
// counts as shown, because callers may have joined it.
Core::KeepResult Core::keep(KeyHash hash, const Watch& watch, const SharedCachedValue& cached) {
  const NameHash name = name_of(hash);
  const std::lock_guard lock(keep_mutex_);
  note(filled_, hash);
  // A loader of the application may have read from a server that was replaced.
  const bool is_from_server = watch.is_settled || own_reads_.has(hash, watch.tracked_at);
  const bool is_unchanged = watch.is_tracked && is_from_server && !fences_.write_in_flight(name) &&
                            watch.tracked_at > std::max(fences_.fence(name), all_changed_at_);
  const bool is_kept =
      is_unchanged && options_.cache_enabled && !is_closed_ && kept_.put(hash, cached);
  if (server_ != nullptr) {
    fences_.raise(name, now());
    if (!is_kept) kept_.drop(hash);
    if (watch.deadline < cached->loaded_at + options_.expire_after_write)
      note_life(hash, watch.deadline - cached->loaded_at);
  }
  return {is_unchanged, is_kept};
}

void Core::set_times(CachedValue& cached, TimePoint sent_at, TimePoint loaded_at,
                     TimePoint deadline) {
  cached.loaded_at = sent_at;
  cached.expires_at = std::min(sent_at + options_.expire_after_write, deadline);
  cached.refresh_at = early_refresh_at(cached.expires_at, sent_at, loaded_at - sent_at,
                                       options_.early_refresh, random());
}

// ---- writing

Core::Write Core::begin_write(std::string_view key, KeyHash hash) {
  if (is_in_forked_child_) return {hash, TimePoint::min()};
  record({.hash = hash, .key = key, .kind = detect::AccessKind::kWrite}, clock_.now());
  const std::lock_guard lock(keep_mutex_);
  // Overlapping writes may reach the source in either order: then no value is certain to be the
  // last.
  const bool is_alone = !fences_.write_in_flight(name_of(hash));
  fences_.write_begins(name_of(hash));
  if (server_ != nullptr) key_changed(hash);  // others may see the write before it has ended
  return {hash, is_alone ? now() : TimePoint::min()};
}

void Core::end_write(const Write& write, std::shared_ptr<CachedValue> cached) {
  if (is_in_forked_child_) return;
  const NameHash name = name_of(write.hash);
  const std::lock_guard lock(keep_mutex_);
  const TimePoint now = this->now();
  const bool is_first = fences_.fence(name) < write.began_at;
  fences_.write_ends(name, now);
  // With a server, the write itself has ended the tracking of the key. The next load starts it
  // again.
  if (server_ != nullptr || cached == nullptr || !is_first || fences_.write_in_flight(name) ||
      !options_.cache_enabled) {
    key_changed(write.hash);
    return;
  }
  set_times(*cached, now, now);
  kept_.put(write.hash, std::move(cached));
}

void Core::invalidate(KeyHash hash) {
  if (is_in_forked_child_) return;
  const std::lock_guard lock(keep_mutex_);
  fences_.raise(name_of(hash), now());
  key_changed(hash);
}

bool Core::warm(std::string_view key, KeyHash hash, TimePoint until) {
  if (is_in_forked_child_) return false;
  const std::lock_guard lock(state_mutex_);
  if (!kept_.is_hot(hash)) {
    if (kept_.held().hot >= static_cast<std::size_t>(options_.maximum_size)) return false;
    make_hot(key, hash);
  }
  TimePoint& warmed = warmed_[hash.value];
  warmed = std::max(warmed, until);
  return true;
}

void Core::make_hot(std::string_view key, KeyHash hash) {
  raise_fence_of_cold(hash);
  kept_.make_hot(key, hash);
}

// Call it before a key is kept. While it was not, its loads raised no fence. A load from an earlier
// time when it was kept must not bring back an older value.
void Core::raise_fence_of_cold(KeyHash hash) {
  if (server_ != nullptr) fences_.raise(name_of(hash), now());
}

// ---- the keeper

void Core::wake_keeper() noexcept {
  if (is_urgent_.exchange(true)) return;
  keeper_wakes_->notify_one();
}

void Core::run_keeper() {
  TimePoint reported_at = now();
  std::unique_lock lock(keeper_mutex_);
  while (!is_closed_) {
    wait_until(runtime_, *keeper_wakes_, lock, now() + options_.tick,
               [&] { return is_closed_ || is_urgent_; });
    if (is_closed_) return;
    is_urgent_ = false;
    lock.unlock();
    const TimePoint now = this->now();
    clock_.sync();
    tick(now);
    tend_copies(now);
    cache::collect_retired();
    look_at_counts(now);
    if (now - reported_at >= options_.report_interval) {
      reported_at = now;
      report();
    }
    lock.lock();
  }
}

detect::CountLevel Core::floor() const {
  const std::size_t instances = options_.fleet_enabled ? kFleetOf : 1;
  return rules_.shard_counts(0, kBurst, shards_of(options_) * instances).floor;
}

void Core::tick(TimePoint now) {
  if (!is_counting_) return;
  detect::Summary merged =
      detect::merge(shards_.summarize(clock_.now(), kKnownMax, floor()), kKnownMax);
  std::vector<HotEvent> events;
  std::vector<std::function<void(const HotEvent&)>> callbacks;
  {
    const std::lock_guard lock(state_mutex_);
    const std::vector<detect::FleetWindow> fleet = fleet_windows();
    const std::vector<detect::Change>& changes = selector_.update({&merged, 1}, fleet);
    keep_events(changes, now);
    events = apply(changes, now);
    cool_down(now);
    window_ = std::move(merged);
    if (!events.empty()) callbacks = callbacks_;
  }
  // Without the lock: a callback may call the Client.
  for (const HotEvent& event : events)
    for (const auto& callback : callbacks) callback(event);
}

fleet::Matters Core::matters() const {
  return [rules = rules_](const detect::Measure& measure, std::uint64_t instances) {
    return fleet::matters_by(rules, kBurst, measure, instances);
  };
}

// REQUIRES state_mutex_.
void Core::judge_alone_as(std::int64_t instances) {
  if (instances == alone_as_) return;
  alone_as_ = instances;
  ClientOptions options = options_;
  options.fleet_size = instances;
  selector_.reconfigure(selector_options(options, rules_of(options)));
}

}  // namespace heatsink::client
