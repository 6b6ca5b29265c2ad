// SPDX-License-Identifier: Apache-2.0
// The part of a Client that does not depend on the type of the values: a composition of the parts
// that docs/decisions/0132-the-library-is-a-composition.md lists.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/base/hash_inline.h"
#include "heatsink/client/access_shards.h"
#include "heatsink/client/admin_page.h"
#include "heatsink/client/begun_write.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/chance.h"
#include "heatsink/client/copy_guard.h"
#include "heatsink/client/counters.h"
#include "heatsink/client/earned_copies.h"
#include "heatsink/client/hit_clock.h"
#include "heatsink/client/hot_copies.h"
#include "heatsink/client/hot_keys.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/life.h"
#include "heatsink/client/listeners.h"
#include "heatsink/client/loads.h"
#include "heatsink/client/on_fork.h"
#include "heatsink/client/options.h"
#include "heatsink/client/refreshes.h"
#include "heatsink/client/runtime.h"
#include "heatsink/client/served_until.h"
#include "heatsink/client/server_link.h"
#include "heatsink/client/statistics.h"
#include "heatsink/client/stats.h"
#include "heatsink/detect/detect.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/topology/key_servers.h"

namespace heatsink::client {

// Any thread may call any function. Loaders and callbacks run without a lock. One thread, the
// keeper, counts accesses and selects hot keys; refresh.threads threads load in the background.
//
// A forked child has none of these threads, and one of them may have held any lock. So in a child
// no copy is served and a load asks the source. All other functions do nothing and take no lock. A
// child must not destroy a Core.
class Core final : private ServerListener {
 public:
  // Throws like ServerLink and AdminPage::start(). The runtime must outlive it.
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
  // The copy is valid while the caller's cache::ReadGuard lives.
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
    return earned_ != nullptr && is_counting_ && earned_->try_admit(key, hash, now);
  }
  // For a kept key without a servable copy: loads it, or waits for another caller's load. Throws
  // what the load throws, or LoadRefused.
  SharedCachedValue load(KeyHash hash, const Load& load);
  // See Loads::load_ahead().
  void load_ahead(KeyHash hash, Load load, TimePoint wanted_at) {
    loads_.load_ahead(hash, std::move(load), wanted_at);
  }
  // A reader has seen a copy that is due early.
  void ask_refresh(KeyHash hash) { refreshes_.hurry(hash); }

  // A write of the key: call begin_write() before the source is written, and end_write() exactly
  // once after it. `cached` becomes the copy if no other write overlapped; otherwise the copy is
  // dropped.
  BegunWrite begin_write(std::string_view key, KeyHash hash);
  void end_write(const BegunWrite& write, std::shared_ptr<CachedValue> cached);
  void invalidate(KeyHash hash);

  // ---- with a server

  // The value that a cold key's load returned is about to be shown to the caller.
  void end_cold_load(KeyHash hash) { guard_.end_cold_load(hash); }
  // Use the client's own connection; throw ServerError and ServerUnavailable.
  std::optional<std::string> fetch(std::string_view key);
  void store(std::string_view key, std::string_view value, std::optional<Millis> ttl);
  void remove(std::string_view key);

  bool is_in_forked_child() const { return life_.is_in_forked_child; }

  bool is_kept(KeyHash hash) const { return !is_in_forked_child() && kept_.has(hash); }
  bool is_hot(KeyHash hash) const { return !is_in_forked_child() && kept_.is_hot(hash); }
  // Makes the key hot until then, whatever its traffic. False: cache.maximum-size keys are hot, or
  // this is a forked child.
  bool warm(std::string_view key, KeyHash hash, TimePoint until) {
    return !is_in_forked_child() && hot_copies_.warm(key, hash, until);
  }

  // ---- for people

  std::vector<HotKeyInfo> top(std::size_t n) const;
  Stats stats() const;
  void on_hot(std::function<void(const HotEvent&)> callback);
  void on_report(std::function<void(const Stats&)> callback);

  void close();  // stops counting, keeping and refreshing; waits for the threads

 private:
  std::unique_ptr<EarnedCopies> make_earned();
  ServerLink& server();
  void enter_forked_child() noexcept;

  void on_changed(std::string_view key) override;
  void on_all_changed() override;
  void on_server_changed(topology::ServerIndex server) override;
  void on_slots_changed(const std::vector<bool>& slots) override;
  void on_proven(topology::ServerIndex server, TimePoint until) override;
  std::atomic<std::uint64_t>* own_commands() override { return &counters_.own_commands; }
  std::uint64_t hash_seed() const override { return seed_; }
  std::vector<detect::Summary> counted() override { return hot_keys_.counted(); }
  fleet::Matters matters() const override { return hot_keys_.matters(); }
  void on_fleet(const FleetState& state) override { hot_keys_.set_fleet(state); }

  void run_keeper();
  void tick(TimePoint now);
  void wake_keeper() noexcept;
  void run_refresher();

  const ClientOptions options_;
  Runtime& runtime_;
  const std::uint64_t seed_;
  std::atomic<bool> is_counting_;
  Life life_;
  Counters counters_;
  HitClock clock_;
  const std::shared_ptr<admit::AdmissionState> admission_;  // null: only hot keys are kept
  HotKeys hot_keys_;
  AccessShards shards_;
  KeptKeys kept_;
  ServedUntil served_until_;
  Chance chance_;
  const std::unique_ptr<ServerLink> server_;  // null: level `ttl`
  CopyGuard guard_;
  Refreshes refreshes_;
  Loads loads_;
  HotCopies hot_copies_;
  const std::unique_ptr<EarnedCopies> earned_;  // null: only hot keys are kept
  Statistics statistics_;
  AdminPage page_;
  Listeners<HotEvent> hot_listeners_;

  std::atomic<bool> is_urgent_{false};
  std::mutex keeper_mutex_;
  const std::unique_ptr<Condition> keeper_wakes_ = runtime_.make_condition();
  std::mutex close_mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;

  const OnFork on_fork_{[this] { enter_forked_child(); }};  // last: all other members exist by then
};

}  // namespace heatsink::client
