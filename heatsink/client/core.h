// SPDX-License-Identifier: Apache-2.0
// The part of a Client that does not depend on the type of the values: kept keys, copies, loads.
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
#include <utility>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/base/hash_inline.h"
#include "heatsink/client/access_shards.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/counts_window.h"
#include "heatsink/client/engine.h"
#include "heatsink/client/hit_clock.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/load_group.h"
#include "heatsink/client/name_fences.h"
#include "heatsink/client/on_fork.h"
#include "heatsink/client/options.h"
#include "heatsink/client/own_reads.h"
#include "heatsink/client/refresh_schedule.h"
#include "heatsink/client/runtime.h"
#include "heatsink/client/served_until.h"
#include "heatsink/client/server_link.h"
#include "heatsink/client/stats.h"
#include "heatsink/detect/detect.h"
#include "heatsink/report/event.h"
#include "heatsink/report/node_report.h"
#include "heatsink/topology/key_servers.h"

namespace heatsink::httpd {
class HttpServer;
struct Route;
}  // namespace heatsink::httpd

namespace heatsink::client {

// Any thread may call any function. Loaders and callbacks run without a lock. One thread, the
// keeper, counts accesses and selects hot keys; refresh.threads threads load in the background.
//
// A forked child has none of these threads, and one of them may have held any lock. So in a child
// no copy is served and a load asks the source. All other functions do nothing and take no lock. A
// child must not destroy a Core.
class Core final : private ServerListener {
 public:
  // Throws like ServerLink and start_page(). The runtime must outlive it.
  explicit Core(const ClientOptions& options, Runtime& runtime = system_runtime());
  ~Core();
  Core(const Core&) = delete;

  // ---- for a hit; no lock, no allocation

  KeyHash hash(std::string_view key) const noexcept {
    return in_db(hash_name_inline(key, seed_), 0);
  }
  TimePoint hit_time() const noexcept { return clock_.now(); }
  // No copy may be served from this time on. Read it before the copy: a thread that sees a proof of
  // the server also sees every change before it (docs/decisions/0002-lease-before-copy.md).
  TimePoint served_until() const noexcept { return served_until_.of(0); }
  // The same for the copy of a node, which find() has returned for this key: whether it may be
  // served. Its server is known only after the copy, so the copy must still be there after its
  // server's proof.
  bool is_proven_by_node(KeyHash hash, std::string_view key, const CachedValue& cached,
                         TimePoint now) const noexcept {
    if (cached.server == 0 || now >= served_until_.of(cached.server)) return false;
    return kept_.find(hash, key).cached == &cached;
  }
  // The copy is valid while the caller's cache::Pin lives.
  KeptKeys::Found find(KeyHash hash, std::string_view key) const noexcept {
    return kept_.find(hash, key);
  }
  void record(const detect::Access& access, TimePoint now) noexcept {
    if (is_counting_.load(std::memory_order_relaxed) && shards_.record(access, now)) [[unlikely]]
      wake_keeper();
  }

  const ClientOptions& options() const { return options_; }
  TimePoint now() const noexcept { return runtime_.now(); }  // the exact clock

  // ---- copies

  // Counts a read of a key that is not kept. True: it is kept from now on, so load() it. `now` may
  // be hit_time().
  bool earn_copy(std::string_view key, KeyHash hash, TimePoint now) {
    return admission_ != nullptr && try_admit(key, hash, now);
  }
  // For a kept key without a servable copy: loads it, or waits for another caller's load. Throws
  // what the load throws, or LoadRefused.
  SharedCachedValue load(KeyHash hash, const Load& load);
  // Loads the key unless a load has begun since `wanted_at`: in the background, or in this call if
  // refresh.enabled is false; then it throws like load(). Other callers of the key join the load.
  void load_ahead(KeyHash hash, Load load, TimePoint wanted_at);
  // A reader has seen a copy that is due early.
  void ask_refresh(KeyHash hash);

  // A write of the key: call begin_write() before the source is written, and end_write() exactly
  // once after it. `cached` becomes the copy if no other write overlapped; otherwise the copy is
  // dropped.
  using Write = Engine::Write;
  Write begin_write(std::string_view key, KeyHash hash);
  void end_write(const Write& write, std::shared_ptr<CachedValue> cached);
  void invalidate(KeyHash hash);

  // ---- with a server

  // The value that a cold key's load returned is about to be shown to the caller.
  void end_cold_load(KeyHash hash);
  // Use the client's own connection; throw ServerError and ServerUnavailable.
  std::optional<std::string> fetch(std::string_view key);
  void store(std::string_view key, std::string_view value, std::optional<Millis> ttl);
  void remove(std::string_view key);

  bool is_in_forked_child() const { return is_in_forked_child_; }

  bool is_kept(KeyHash hash) const { return !is_in_forked_child_ && kept_.has(hash); }
  bool is_hot(KeyHash hash) const { return !is_in_forked_child_ && kept_.is_hot(hash); }
  // Makes the key hot until then, whatever its traffic. False: cache.maximum-size keys are hot, or
  // this is a forked child.
  bool warm(std::string_view key, KeyHash hash, TimePoint until);

  // ---- for people

  std::vector<HotKeyInfo> top(std::size_t n) const;
  Stats stats() const;
  void on_hot(std::function<void(const HotEvent&)> callback);
  void on_report(std::function<void(const Stats&)> callback);

  void close();  // stops counting, keeping and refreshing; waits for the threads

 private:
  struct Counters {
    std::atomic<std::uint64_t> promotions{0}, demotions{0}, loads{0}, load_failures{0}, waits{0},
        refusals{0}, refreshes{0}, refresh_failures{0}, refresh_drops{0}, stale_served{0},
        invalidations{0}, flushes{0}, own_commands{0}, misses{0}, source_loads{0};
  };

  // May return a copy whose load began since then, instead of asking the source.
  SharedCachedValue load_since(KeyHash hash, const Load& load, TimePoint since);
  // `shared`: receives the load that this caller led or waited for.
  SharedCachedValue load_or_wait(KeyHash hash, const Load& load, TimePoint since,
                                 TimePoint not_before, std::shared_ptr<SharedLoad>& shared);
  // For the leader of a load. Both hand the result to all waiting callers.
  bool complete_with_copy(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, TimePoint since);
  bool run_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared, const Load& load);
  SharedCachedValue lead_load(KeyHash hash, const std::shared_ptr<SharedLoad>& shared,
                              const Load& load);
  // Loads as for a key that is not kept.
  SharedCachedValue load_alone(KeyHash hash, const Load& load, std::shared_ptr<SharedLoad>& shared);
  SharedCachedValue result_of(const SharedLoad& shared);  // REQUIRES that the load is complete
  SharedCachedValue stale_instead(KeyHash hash) const;
  TimePoint proven_until(KeyHash hash, const SharedCachedValue& cached,
                         TimePoint served_until) const;
  static void count(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
  static NameHash name_of(KeyHash hash) { return NameHash{hash.value}; }  // one database

  using Watch = ServerLink::Watch;
  Watch watch(KeyHash hash, TimePoint now);
  struct KeepResult {
    bool is_unchanged;  // as far as the server has told: the value is still that of the key
    bool is_kept;       // the value is the copy now
  };
  KeepResult keep(KeyHash hash, const Watch& watch, const SharedCachedValue& cached);
  void set_times(CachedValue& cached, TimePoint sent_at, TimePoint loaded_at,
                 TimePoint deadline = TimePoint::max());
  void make_hot(std::string_view key, KeyHash hash);
  void raise_fence_of_cold(KeyHash hash);
  ServerLink& server();
  void enter_forked_child() noexcept;

  void on_changed(std::string_view key) override;
  void on_all_changed() override;
  void on_server_changed(topology::ServerIndex server) override;
  void on_slots_changed(const std::vector<bool>& slots) override;
  void on_proven(topology::ServerIndex server, TimePoint until) override;
  std::atomic<std::uint64_t>* own_commands() override { return &counters_.own_commands; }
  std::uint64_t hash_seed() const override { return seed_; }
  std::vector<detect::Summary> counted() override;
  fleet::Matters matters() const override;
  void on_fleet(const FleetState& state) override;
  std::vector<detect::FleetWindow> fleet_windows();
  void judge_alone_as(std::int64_t instances);
  static std::uint32_t database_of(const ClientOptions& options);
  detect::CountLevel floor() const;
  double random();

  static std::shared_ptr<admit::AdmissionState> admission_of(const ClientOptions& options);
  admit::SizedChooser::Options chooser_options() const;
  admit::Costs copy_costs() const;
  bool try_admit(std::string_view key, KeyHash hash, TimePoint now);
  void key_changed(KeyHash hash);
  void note_life(KeyHash hash, Nanos life);
  void note(std::vector<KeyHash>& events, KeyHash hash) const;
  void limit_earned(KeyHash hash);
  void drop_due(TimePoint now);
  void tend_copies(TimePoint now);
  void play_copies(const KeptKeys::Held& held, TimePoint now);
  std::optional<report::CopiesReport> copies_report() const;
  std::size_t useful_copies() const;
  void sweep(std::size_t keys, TimePoint now);

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
  std::string coherence() const;  // for report::Report::coherence
  report::Report page_report() const;
  void add_key(report::Report& report, const detect::Verdict& verdict,
               const std::string& level) const;
  void keep_events(const std::vector<detect::Change>& changes, TimePoint now);

  void refresh_later(KeyHash hash, Load load, TimePoint loaded_at);
  void run_refresher();
  void refresh(const RefreshSchedule::Job& job);
  void refresh_failed(KeyHash hash);

  const ClientOptions options_;
  const std::uint32_t database_ = database_of(options_);
  Runtime& runtime_;
  const TimePoint started_at_ = now();
  const std::uint64_t seed_;
  const detect::RuleSet rules_;
  std::atomic<bool> is_counting_;
  HitClock clock_;
  const std::shared_ptr<admit::AdmissionState> admission_;  // null: only hot keys are kept
  AccessShards shards_;
  KeptKeys kept_;
  NameFences fences_;
  LoadGroup load_group_;
  OwnReads own_reads_;
  Counters counters_;
  std::mutex keep_mutex_;  // held while a copy is kept, so that no write can overtake it
  // Guarded by keep_mutex_, up to ended_:
  TimePoint all_changed_at_ = TimePoint::min();
  std::vector<admit::SampledAccess> changed_;  // since the last tick
  std::vector<std::pair<KeyHash, Nanos>> lives_;
  std::vector<KeyHash> filled_, ended_;  // for savings_, since the last tick
  ServedUntil served_until_;

  std::atomic<bool> is_in_forked_child_{false};
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> is_urgent_{false};
  std::mutex keeper_mutex_;
  const std::unique_ptr<Condition> keeper_wakes_ = runtime_.make_condition();

  mutable std::mutex state_mutex_;  // guards the keeper's results, up to events_
  detect::Selector selector_;
  detect::Summary window_;
  FleetState fleet_;
  std::int64_t alone_as_ = 1;  // the selector's thresholds are divided by this
  CountsWindow counts_;
  std::vector<std::function<void(const HotEvent&)>> callbacks_;
  std::vector<std::function<void(const Stats&)>> report_callbacks_;
  std::unordered_map<std::uint64_t, TimePoint> warmed_;  // by hash: the end of the warming
  std::deque<report::Event> events_;                     // empty without a page
  std::uint64_t last_event_ = 0;

  std::mutex schedule_mutex_;
  const std::unique_ptr<Condition> schedule_changed_ = runtime_.make_condition();
  RefreshSchedule schedule_;
  std::mutex random_mutex_;
  std::mt19937_64 random_;

  std::unique_ptr<ServerLink> server_;          // null: level `ttl`
  mutable std::mutex choice_mutex_;             // guards the next two; only the keeper changes them
  std::optional<admit::SizedChooser> chooser_;  // empty: only hot keys are kept
  admit::CopySavings savings_{started_at_};
  // The keeper's:
  TimePoint tended_at_ = started_at_;
  struct EarnedBefore {  // the copy of a key that has become hot since, and has no known loader
    KeyHash hash;
    TimePoint loaded_at, due;
  };
  std::vector<EarnedBefore> earned_before_;
  // Null: admin.listen is off, or another process has the port.
  std::unique_ptr<httpd::HttpServer> page_;
  std::mutex close_mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;

  const OnFork on_fork_{[this] { enter_forked_child(); }};  // last: all other members exist by then
};

}  // namespace heatsink::client
