// SPDX-License-Identifier: Apache-2.0
// The part of a Client that does not know the type of the values: hot keys, copies, loads.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/base/hash_inline.h"
#include "heatsink/cache/fences.h"
#include "heatsink/client/access_shards.h"
#include "heatsink/client/box.h"
#include "heatsink/client/counts_window.h"
#include "heatsink/client/engine.h"
#include "heatsink/client/flights.h"
#include "heatsink/client/hit_clock.h"
#include "heatsink/client/hot_keys.h"
#include "heatsink/client/on_fork.h"
#include "heatsink/client/options.h"
#include "heatsink/client/refresh_schedule.h"
#include "heatsink/client/runtime.h"
#include "heatsink/client/server_link.h"
#include "heatsink/client/stats.h"
#include "heatsink/detect/detect.h"
#include "heatsink/report/event.h"
#include "heatsink/report/node_report.h"

namespace heatsink::httpd {
class HttpServer;
struct Route;
}  // namespace heatsink::httpd

namespace heatsink::client {

// Any thread may call anything. Loaders and callbacks run without a lock. One thread counts and
// judges (the keeper), refresh.threads load in the background.
//
// A forked child has none of these threads, and one of them may have held any lock. So there no
// copy is served, a load asks the source, nothing else does anything or takes a lock, and a Core
// may not be destroyed.
class Core final : private ServerNews {
 public:
  // Throws as ServerLink does, and start_page(). The runtime outlives it.
  explicit Core(const ClientOptions& options, Runtime& runtime = system_runtime());
  ~Core();
  Core(const Core&) = delete;

  // ---- for a hit; no lock, no allocation

  KeyHash hash(std::string_view key) const noexcept {
    return in_db(hash_name_inline(key, seed_), 0);
  }
  TimePoint hit_time() const noexcept { return clock_.now(); }
  // No copy may be served from then on. To be looked at before the copy is: whoever sees a proof of
  // the server sees every change that came before it (docs/decisions/0002-lease-before-copy.md).
  TimePoint served_until() const noexcept {
    return TimePoint(Nanos(served_until_.load(std::memory_order_acquire)));
  }
  // The copy is valid while the caller's cache::Pin lives.
  HotKeys::Found find(KeyHash hash, std::string_view key) const noexcept {
    return hot_.find(hash, key);
  }
  void record(const detect::Access& access, TimePoint now) noexcept {
    if (is_counting_.load(std::memory_order_relaxed) && shards_.record(access, now)) [[unlikely]]
      wake_keeper();
  }

  const ClientOptions& options() const { return options_; }
  TimePoint now() const noexcept { return runtime_.now(); }  // exact

  // ---- copies

  // Of a key that is hot and has no copy that may be served: loads it, or waits for another who
  // does. Throws what the load throws, or LoadRefused.
  SharedBox load(KeyHash hash, const Load& load);
  // Loads it, unless a load that began since `wanted_at` has: in the background, or here without
  // refresh.enabled, where it throws likewise. Whoever wants the key meanwhile joins that load.
  void load_ahead(KeyHash hash, Load load, TimePoint wanted_at);
  // A reader saw a copy that is due early.
  void ask_refresh(KeyHash hash);

  // A write of the key: `begin` before the source is written, and exactly one end after it. The
  // copy becomes `box` if it is certain that nothing was written in between, else it goes.
  using Write = Engine::Write;
  Write begin_write(std::string_view key, KeyHash hash);
  void end_write(const Write& write, std::shared_ptr<Box> box);
  void invalidate(KeyHash hash);

  // ---- with a server

  // What a load of a key that was not hot has brought is about to be shown.
  void passed(KeyHash hash);
  // By the client's own connection. They throw ServerError, ServerUnavailable.
  std::optional<std::string> fetch(std::string_view key);
  void store(std::string_view key, std::string_view value, std::optional<Millis> ttl);
  void remove(std::string_view key);

  bool is_in_forked_child() const { return is_in_forked_child_; }

  bool is_hot(KeyHash hash) const { return !is_in_forked_child_ && hot_.has(hash); }
  // Hot until then, whatever detection says. False: as many keys as cache.maximum-size are hot, or
  // this is a forked child.
  bool warm(std::string_view key, KeyHash hash, TimePoint until);

  // ---- for people

  std::vector<HotKeyInfo> top(std::size_t n) const;
  Stats stats() const;
  void on_hot(std::function<void(const HotEvent&)> callback);
  void on_report(std::function<void(const Stats&)> callback);

  void close();  // nothing is counted, kept or refreshed any more; waits for the threads

 private:
  struct Counters {
    std::atomic<std::uint64_t> promotions{0}, demotions{0}, loads{0}, load_failures{0}, waits{0},
        refusals{0}, refreshes{0}, refresh_failures{0}, refresh_drops{0}, stale_served{0},
        invalidations{0}, flushes{0};
  };

  // What a load may give instead of asking the source: a copy that was loaded since then.
  SharedBox load_since(KeyHash hash, const Load& load, TimePoint since);
  // `flight`: that which it led, or has waited for.
  SharedBox load_or_wait(KeyHash hash, const Load& load, TimePoint since, TimePoint not_before,
                         std::shared_ptr<Flight>& flight);
  // The leader's part. They hand what comes of it to all who wait.
  bool land_copy(KeyHash hash, const std::shared_ptr<Flight>& flight, TimePoint since);
  bool fly(KeyHash hash, const std::shared_ptr<Flight>& flight, const Load& load);
  SharedBox lead(KeyHash hash, const std::shared_ptr<Flight>& flight, const Load& load);
  SharedBox brought_by(const Flight& flight);  // REQUIRES that it has landed
  SharedBox stale_instead(KeyHash hash) const;
  static void count(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
  static NameHash name_of(KeyHash hash) { return NameHash{hash.value}; }  // one database

  using Watch = ServerLink::Watch;
  Watch watch(KeyHash hash, TimePoint now);
  bool keep(KeyHash hash, const Watch& watch, const SharedBox& box);
  void set_times(Box& box, TimePoint sent_at, TimePoint loaded_at,
                 TimePoint deadline = TimePoint::max());
  void make_hot(std::string_view key, KeyHash hash);
  ServerLink& server();
  void enter_forked_child() noexcept;

  void on_changed(std::string_view key) override;
  void on_all_changed() override;
  void on_proven(TimePoint until) override;
  double random();

  void run_keeper();
  void tick(TimePoint now);
  std::vector<HotEvent> apply(const std::vector<detect::Change>& changes, TimePoint now);
  void cool_down(TimePoint now);
  void forget(KeyHash hash);
  void wake_keeper() noexcept;
  Counts counts(const AccessShards::Traffic& traffic) const;
  void look_at_counts(TimePoint now);
  void report() const;

  static constexpr std::size_t kEventsMax = 1000;
  void start_page();
  std::vector<httpd::Route> routes();
  std::string coherence() const;  // as report::Report has it
  report::Report page_report() const;
  void add_key(report::Report& report, const detect::Verdict& verdict,
               const std::string& level) const;
  void keep_events(const std::vector<detect::Change>& changes, TimePoint now);

  void refresh_later(KeyHash hash, Load load, TimePoint loaded_at);
  void run_refresher();
  void refresh(const RefreshSchedule::Job& job);
  void refresh_failed(KeyHash hash);

  const ClientOptions options_;
  Runtime& runtime_;
  const TimePoint started_at_ = now();
  const std::uint64_t seed_;
  const detect::RuleSet rules_;
  std::atomic<bool> is_counting_;
  HitClock clock_;
  AccessShards shards_;
  HotKeys hot_;
  cache::Fences fences_;
  Flights flights_;
  Counters counters_;
  std::mutex keeping_;  // so that nothing is kept that a write has overtaken
  TimePoint all_changed_at_ = TimePoint::min();  // guarded by keeping_
  std::atomic<std::int64_t> served_until_;

  std::atomic<bool> is_in_forked_child_{false};
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_urgent_{false};
  std::mutex keeper_mutex_;
  const std::unique_ptr<Condition> keeper_wakes_ = runtime_.make_condition();

  mutable std::mutex told_;  // what the keeper tells
  detect::Selector selector_;
  detect::Summary window_;
  CountsWindow counts_;
  std::vector<std::function<void(const HotEvent&)>> callbacks_;
  std::vector<std::function<void(const Stats&)>> report_callbacks_;
  std::unordered_map<std::uint64_t, TimePoint> warmed_;  // by hash: until when
  std::deque<report::Event> events_;                     // where there is a page
  std::uint64_t last_event_ = 0;

  std::mutex schedule_mutex_;
  const std::unique_ptr<Condition> schedule_changed_ = runtime_.make_condition();
  RefreshSchedule schedule_;
  std::mutex random_mutex_;
  std::mt19937_64 random_;

  std::unique_ptr<ServerLink> server_;       // null: level `ttl`
  std::unique_ptr<httpd::HttpServer> page_;  // null: admin.listen is off, or another has the port
  std::mutex closing_;
  std::vector<std::unique_ptr<Thread>> threads_;

  const OnFork on_fork_{[this] { enter_forked_child(); }};  // last: all else stands by then
};

}  // namespace heatsink::client
