// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/engine.h"

#include <utility>

#include "heatsink/cache/read_guard_inline.h"
#include "heatsink/client/core.h"
#include "heatsink/client/metrics.h"
#include "heatsink/client/runtime.h"

namespace heatsink::client {
namespace {

// Leaves the thread reading (begin_read()) if it returns a copy.
inline Engine::Lookup look(Core& core, std::string_view key, KeyHash hash, TimePoint now) noexcept {
  const TimePoint served_until = core.served_until();  // before the copy: see Core::served_until()
  cache::begin_read();
  const auto [is_kept, cached] = core.find(hash, key);
  if (cached == nullptr || now >= cached->expires_at || now >= served_until) [[unlikely]] {
    const bool is_served = cached != nullptr && now < cached->expires_at &&
                           core.is_proven_by_node(hash, key, *cached, now);
    if (!is_served) {
      cache::end_read();
      return {nullptr, is_kept};
    }
  }
  if (now >= cached->refresh_at && cached->claim_refresh()) [[unlikely]]
    core.ask_refresh(hash);
  return {cached, true};
}

// Apart from read(), so that a hit keeps fewer values in registers.
[[gnu::noinline]] Engine::Lookup read_unkept(Core& core, std::string_view key, KeyHash hash,
                                             TimePoint now) {
  core.record({.hash = hash, .key = key}, now);
  return {nullptr, core.earn_copy(key, hash, now)};
}

}  // namespace

// A forked child does not destroy the Core: its threads do not exist there, and the parent's server
// would receive what the child sends on its sockets.
Engine::Engine(const ClientOptions& options) : Engine(options, system_runtime()) {}
Engine::Engine(const ClientOptions& options, Runtime& runtime)
    : core_(new Core(options, runtime), [](Core* core) {
        if (!core->is_in_forked_child()) delete core;
      }) {}

const ClientOptions& Engine::options() const { return core_->options(); }

Engine::Lookup Engine::read(std::string_view key) const {
  Core& core = *core_;
  const KeyHash hash = core.hash(key);
  const TimePoint now = core.hit_time();
  const Lookup found = look(core, key, hash, now);
  if (!found.is_kept) [[unlikely]]
    return read_unkept(core, key, hash, now);
  core.record({.hash = hash, .key = key, .local_hit = found.cached != nullptr}, now);
  return found;
}

Engine::Lookup Engine::peek(std::string_view key) const noexcept {
  return look(*core_, key, core_->hash(key), core_->hit_time());
}

void Engine::record(std::string_view key) const noexcept {
  core_->record({.hash = core_->hash(key), .key = key}, core_->hit_time());
}

SharedCachedValue Engine::load(std::string_view key, const Load& load) const {
  return core_->load(core_->hash(key), load);
}

Engine::Write Engine::begin_write(std::string_view key) const {
  return core_->begin_write(key, core_->hash(key));
}

void Engine::end_write(const Write& write, std::shared_ptr<CachedValue> cached) const {
  core_->end_write(write, std::move(cached));
}

void Engine::invalidate(std::string_view key) const { core_->invalidate(core_->hash(key)); }

void Engine::end_cold_load(std::string_view key) const { core_->end_cold_load(core_->hash(key)); }

std::optional<std::string> Engine::Source::operator()(const std::string& key) const {
  return core->fetch(key);
}

void Engine::store(std::string_view key, std::string_view value, std::optional<Millis> ttl) const {
  core_->store(key, value, ttl);
}

void Engine::remove(std::string_view key) const { core_->remove(key); }

bool Engine::is_kept(std::string_view key) const { return core_->is_kept(core_->hash(key)); }
bool Engine::is_hot(std::string_view key) const { return core_->is_hot(core_->hash(key)); }

bool Engine::warm(std::string_view key, Nanos for_so_long, Load load) const {
  const KeyHash hash = core_->hash(key);
  const TimePoint now = core_->now();  // before ours: a reader may begin a load at this moment
  if (!core_->warm(key, hash, now + for_so_long)) return false;
  core_->load_ahead(hash, std::move(load), now);
  return true;
}

std::vector<HotKeyInfo> Engine::top(std::size_t n) const { return core_->top(n); }
Stats Engine::stats() const { return core_->stats(); }
std::string Engine::metrics_text() const { return client::metrics_text(core_->stats()); }
void Engine::on_hot(std::function<void(const HotEvent&)> callback) const {
  core_->on_hot(std::move(callback));
}
void Engine::on_report(std::function<void(const Stats&)> callback) const {
  core_->on_report(std::move(callback));
}
void Engine::close() const { core_->close(); }

}  // namespace heatsink::client
