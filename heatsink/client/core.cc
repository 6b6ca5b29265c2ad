// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/core.h"

#include <string>
#include <utility>

#include "heatsink/cache/read_guard.h"
#include "heatsink/client/detect_options.h"
#include "heatsink/client/errors.h"

namespace heatsink::client {
namespace {

constexpr std::size_t kKnownMax = 4096;  // keys that a summary lists

KeptKeys::Limits limits_of(const ClientOptions& options) {
  return {.keys = static_cast<std::size_t>(options.maximum_size),
          .missing = static_cast<std::size_t>(options.maximum_nil),
          .bytes = static_cast<std::size_t>(options.maximum_bytes.count)};
}

// The link calls `listener` only after start().
std::unique_ptr<ServerLink> link_of(const ClientOptions& options, ServerListener& listener,
                                    Runtime& runtime) {
  if (options.server_url.empty()) return nullptr;
  return std::make_unique<ServerLink>(options, listener, runtime);
}

void expect_done(const resp::Value& reply) {
  if (reply.is_error()) throw ServerError(reply.text);
}

}  // namespace

Core::Core(const ClientOptions& options, Runtime& runtime)
    : options_(options.checked()),
      runtime_(runtime),
      seed_(runtime.draw_seed()),
      is_counting_(options.detection_enabled),
      clock_(runtime),
      admission_(EarnedCopies::state_for(options_)),
      hot_keys_(options_, seed_),
      shards_(recorder_options(options_, seed_, hot_keys_.rules()), shards_of(options_),
              admission_),
      kept_(limits_of(options_)),
      served_until_(options_.server_url.empty() ? TimePoint::max() : TimePoint::min()),
      chance_(runtime.draw_seed()),
      server_(link_of(options_, *this, runtime)),
      guard_(options_, runtime,
             {.kept = kept_, .chance = chance_, .life = life_, .admission = admission_.get()}),
      refreshes_(options_, runtime, chance_),
      loads_(options_, runtime,
             {.kept = kept_,
              .guard = guard_,
              .served_until = served_until_,
              .refreshes = refreshes_,
              .counters = counters_,
              .server = server_.get()}),
      hot_copies_(options_, {.kept = kept_,
                             .guard = guard_,
                             .refreshes = refreshes_,
                             .hot_keys = hot_keys_,
                             .counters = counters_,
                             .keeps_cold = admission_ != nullptr}),
      earned_(make_earned()),
      statistics_(options_, {.shards = shards_,
                             .clock = clock_,
                             .kept = kept_,
                             .hot_keys = hot_keys_,
                             .counters = counters_,
                             .server = server_.get()}),
      page_(options_, runtime,
            {.statistics = statistics_,
             .hot_keys = hot_keys_,
             .kept = kept_,
             .earned = earned_.get(),
             .server = server_.get()}) {
  page_.start();  // may throw, so it precedes all threads
  if (server_ != nullptr) server_->start();
  threads_.push_back(runtime.spawn("", [this] { run_keeper(); }));
  for (std::int64_t i = 0; options_.refresh_enabled && i < options_.refresh_threads; ++i)
    threads_.push_back(runtime.spawn("", [this] { run_refresher(); }));
}

Core::~Core() { close(); }

std::unique_ptr<EarnedCopies> Core::make_earned() {
  if (admission_ == nullptr) return nullptr;
  return std::make_unique<EarnedCopies>(options_, now(),
                                        EarnedCopies::Parts{.kept = kept_,
                                                            .guard = guard_,
                                                            .shards = shards_,
                                                            .clock = clock_,
                                                            .served_until = served_until_,
                                                            .life = life_,
                                                            .admission = *admission_});
}

void Core::enter_forked_child() noexcept {
  life_.is_in_forked_child = true;
  is_counting_ = false;
  shards_.abandon();
  served_until_.end_all();
}

void Core::close() {
  if (is_in_forked_child()) return;
  const std::lock_guard once(close_mutex_);
  {
    // Under the lock: otherwise the keeper could check it just before, and then miss the
    // notification.
    const std::lock_guard lock(keeper_mutex_);
    life_.is_closed = true;
  }
  keeper_wakes_->notify_all();
  refreshes_.close();
  if (server_ != nullptr) server_->stop();  // first: background loads may wait for it
  for (const auto& thread : threads_) thread->join();
  threads_.clear();
  page_.stop();
  kept_.clear();
  cache::collect_retired();
}

// ---- copies

SharedCachedValue Core::load(KeyHash hash, const Load& load) {
  count(counters_.misses);
  return is_in_forked_child() ? load() : loads_.load(hash, load);
}

BegunWrite Core::begin_write(std::string_view key, KeyHash hash) {
  if (is_in_forked_child()) return {hash, TimePoint::min()};
  record({.hash = hash, .key = key, .kind = detect::AccessKind::kWrite}, clock_.now());
  return guard_.begin_write(hash);
}

void Core::end_write(const BegunWrite& write, std::shared_ptr<CachedValue> cached) {
  if (!is_in_forked_child()) guard_.end_write(write, std::move(cached));
}

void Core::invalidate(KeyHash hash) {
  if (!is_in_forked_child()) guard_.changed(hash);
}

// ---- the server

ServerLink& Core::server() {
  if (is_in_forked_child())
    throw ServerUnavailable(
        "this client was created before fork(): create it in the child process");
  if (server_ == nullptr)
    throw ServerUnavailable("server.url is not set: set it, or pass a loader");
  return *server_;
}

std::optional<std::string> Core::fetch(std::string_view key) {
  resp::Value reply = server().ask({"GET", key});
  expect_done(reply);
  guard_.has_read(hash(key));
  if (reply.type == resp::Value::Type::kNull) return std::nullopt;
  return std::move(reply.text);
}

void Core::store(std::string_view key, std::string_view value, std::optional<Millis> ttl) {
  if (!ttl) {
    expect_done(server().ask({"SET", key, value}));
    return;
  }
  expect_done(server().ask({"SET", key, value, "PX", std::to_string(ttl->count())}));
}

void Core::remove(std::string_view key) { expect_done(server().ask({"DEL", key})); }

void Core::on_changed(std::string_view key) {
  count(counters_.invalidations);
  guard_.changed(hash(key));
}

void Core::on_all_changed() {
  count(counters_.flushes);
  guard_.all_changed();
}

void Core::on_server_changed(topology::ServerIndex server) {
  count(counters_.flushes);
  guard_.server_changed(server);
}

void Core::on_slots_changed(const std::vector<bool>& slots) { guard_.slots_changed(slots); }

void Core::on_proven(topology::ServerIndex server, TimePoint until) {
  served_until_.set(server, until);
}

// ---- the threads

void Core::wake_keeper() noexcept {
  if (is_urgent_.exchange(true)) return;
  keeper_wakes_->notify_one();
}

void Core::run_keeper() {
  TimePoint reported_at = now();
  std::unique_lock lock(keeper_mutex_);
  while (!life_.is_closed) {
    wait_until(runtime_, *keeper_wakes_, lock, now() + options_.tick,
               [&] { return life_.is_closed || is_urgent_; });
    if (life_.is_closed) return;
    is_urgent_ = false;
    lock.unlock();
    const TimePoint now = this->now();
    clock_.sync();
    tick(now);
    hot_copies_.drop_due(now);
    if (earned_ != nullptr) earned_->tend(now);
    cache::collect_retired();
    statistics_.look(now);
    if (now - reported_at >= options_.report_interval) {
      reported_at = now;
      statistics_.report();
    }
    lock.lock();
  }
}

void Core::tick(TimePoint now) {
  if (!is_counting_) return;
  detect::Summary merged = detect::merge(
      shards_.summarize(clock_.now(), kKnownMax, floor_of(options_, hot_keys_.rules())), kKnownMax);
  page_.add_heat(merged);
  const std::vector<detect::Change> changes = hot_keys_.update(std::move(merged));
  page_.add_events(changes, now);
  const std::vector<HotEvent> events = hot_copies_.follow(changes, now);
  hot_copies_.cool_down(now);
  // Without a lock: a callback may call the Client.
  hot_listeners_.tell(events);
}

void Core::run_refresher() {
  while (const std::optional<RefreshSchedule::Job> job = refreshes_.next()) loads_.refresh(*job);
}

// ---- for people

std::vector<HotKeyInfo> Core::top(std::size_t n) const {
  return is_in_forked_child() ? std::vector<HotKeyInfo>() : hot_keys_.top(n);
}

Stats Core::stats() const { return is_in_forked_child() ? Stats() : statistics_.read(); }

void Core::on_hot(std::function<void(const HotEvent&)> callback) {
  if (!is_in_forked_child()) hot_listeners_.add(std::move(callback));
}

void Core::on_report(std::function<void(const Stats&)> callback) {
  if (!is_in_forked_child()) statistics_.on_report(std::move(callback));
}

}  // namespace heatsink::client
