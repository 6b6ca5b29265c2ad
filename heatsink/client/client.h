// SPDX-License-Identifier: Apache-2.0
// client: local reads inside the process, of keys whose copies pay. The application's loader
// fetches values; a hit costs nanoseconds. Start with Client below, then options.h. window_stats.h
// has the statistics that all processes share. server_options.h builds the server options for the
// module distributed; metrics.h has the rows of the metrics; runtime.h is what a simulation
// replaces.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heatsink/client/cached_value.h"  // IWYU pragma: export
#include "heatsink/client/engine.h"        // IWYU pragma: export
#include "heatsink/client/errors.h"        // IWYU pragma: export
#include "heatsink/client/local.h"         // IWYU pragma: export
#include "heatsink/client/options.h"       // IWYU pragma: export
#include "heatsink/client/size_of.h"       // IWYU pragma: export
#include "heatsink/client/stats.h"         // IWYU pragma: export

namespace heatsink::client {

// Fetches the value of a key from the source; an empty optional means that there is none. It may
// throw. The Client keeps copies of it and calls them in the background, so everything that it
// refers to must outlive the Client.
template <class L, class V>
concept Loader = std::copy_constructible<std::decay_t<L>> &&
    std::is_invocable_r_v<std::optional<V>, L&, const std::string&>;

// Counts every access and keeps local copies of keys that are hot, or have earned one
// (cache.admission). Reads of other keys call the loader and are only counted.
//
//   const heatsink::Client client;  // make it once
//   const auto price = client.get("price:1", load);  // std::optional<std::string> load(key)
//   if (price) use(*price);
//
// Without server.url (level `ttl`): a copy is served until cache.expire-after-write after its load
// began; that of a hot key is refreshed before. A write through this object replaces the copy.
// Writes by others are visible when the copy ends.
//
// With server.url (level `key`): keys are keys of that server, which notifies the Client of every
// change. Reads and writes through this object are linearizable per key, and a copy is never older
// than cache.max-staleness (docs/guides/consistency.md). Any loader that reads the same key on that
// server may be used; the Client calls it after the server has begun to track the key.
//
// Thread-safe. Cheap to copy; copies share everything. A value that a thread is reading outlives
// the last copy of the Client. A hit takes no lock and allocates nothing. Do not use a Client in
// destructors of thread_local objects.
template <class V = std::string>
class Client {
 public:
  // REQUIRES options within their bounds: from_yaml(), with() and so on return only such options.
  // Throws std::invalid_argument if options do not fit together (ClientOptions::check()), or if
  // server.url, admin.listen or a file that an option names cannot be used. A server that is down
  // is not an error: the Client connects in the background. A port of admin.listen that another
  // process has is not an error either: then this Client has no page.
  explicit Client(const ClientOptions& options = {}) : engine_(options) {}
  // For simulations: with time and threads of the runtime, which outlives all copies.
  Client(const ClientOptions& options, Runtime& runtime) : engine_(options, runtime) {}

  // Returns the local copy, or calls the loader. Throws what the loader throws. Throws LoadRefused
  // if the key is hot and too many callers wait for its load, or this one waited too long.
  template <Loader<V> L>
  Local<V> get(std::string_view key, L&& loader) const {
    return Local<V>(engine_, key, loader);
  }
  // get() in two steps, for callers that must not wait where they read: an event loop, or an
  // interpreter with a lock that the loader needs, too. Step 1 looks for the local copy and counts
  // the read; it asks no source.
  Local<V> read(std::string_view key) const {
    return Local<V>(engine_, key, typename Local<V>::Read{});
  }
  // Step 2, if step 1 was not a hit: the rest of get().
  template <Loader<V> L>
  Local<V> load(std::string_view key, L&& loader) const {
    return Local<V>(engine_, key, loader, typename Local<V>::Counted{});
  }
  // The local copy, or GET on the server of server.url by the Client's own connection. Throws
  // ServerError, ServerUnavailable, or LoadRefused as above.
  Local<V> get(std::string_view key) const requires std::same_as<V, std::string> {
    return get(key, engine_.source());
  }
  // Asks the server even if there is a copy; counts nothing and keeps nothing. For loaders that
  // convert the server's value. A later get() may still return an older value from a copy.
  std::optional<std::string> fetch(
      std::string_view key) const requires std::same_as<V, std::string> {
    return engine_.source()(std::string(key));
  }
  // The local copy if there is one. Counts nothing and asks no source.
  Local<V> peek(std::string_view key) const {
    return Local<V>(engine_, key, typename Local<V>::Peek{});
  }

  // Calls `store(key, value)` to write to the source, then replaces the local copy. If `store`
  // throws, the source's value is unknown: the copy is dropped and the exception passed on.
  template <std::invocable<const std::string&, const V&> S>
  void set(std::string_view key, V value, S&& store) const {
    write(key, [&](const std::string& name) {
      store(name, value);
      return std::make_shared<CachedValueOf<V>>(std::move(value));
    });
  }
  // The same for a deletion, with `remove(key)`.
  template <std::invocable<const std::string&> R>
  void del(std::string_view key, R&& remove) const {
    write(key, [&](const std::string& name) {
      remove(name);
      return std::make_shared<MissingValue>();
    });
  }
  // On the server of server.url: SET, with PX if `ttl` is given, and DEL. After ServerUnavailable
  // it is unknown whether the server has executed the write, or will.
  void set(std::string_view key, std::string_view value,
           std::optional<Millis> ttl = std::nullopt) const requires std::same_as<V, std::string> {
    write(key, [&](const std::string& name) {
      engine_.store(name, value, ttl);
      return std::shared_ptr<CachedValue>();
    });
  }
  void del(std::string_view key) const requires std::same_as<V, std::string> {
    write(key, [&](const std::string& name) {
      engine_.remove(name);
      return std::shared_ptr<CachedValue>();
    });
  }
  // Call one of these after the source has been written in another way. update() replaces the copy,
  // invalidate() drops it. With server.url both drop it.
  void update(std::string_view key, V value) const {
    const Engine::Write write = engine_.begin_write(key);
    engine_.end_write(write, std::make_shared<CachedValueOf<V>>(std::move(value)));
  }
  void invalidate(std::string_view key) const { engine_.invalidate(key); }

  bool is_hot(std::string_view key) const { return engine_.is_hot(key); }
  // True if load() shares the load of this key and keeps its value: the key is hot, or its reads
  // have earned it a copy.
  bool is_kept(std::string_view key) const { return engine_.is_kept(key); }
  // Counts an access that does not go through this Client.
  void record(std::string_view key) const noexcept { engine_.record(key); }

  // Makes these keys hot for `for_so_long`, whatever their traffic, and loads them. The threads of
  // refresh.threads load them after this call has returned; if refresh.enabled is false, this call
  // loads them. A get() that comes while such a load is under way waits for it. One that comes
  // earlier loads the key itself, and the background skips that key. Returns the keys for which
  // cache.maximum-size has no room.
  template <Loader<V> L>
  std::vector<std::string> warm(std::span<const std::string> keys, const L& loader,
                                Nanos for_so_long = std::chrono::minutes(10)) const {
    std::vector<std::string> refused;
    for (const std::string& key : keys)
      if (!engine_.warm(key, for_so_long, load_of<V>(loader, key))) refused.push_back(key);
    return refused;
  }

  // The same, from the server of server.url.
  std::vector<std::string> warm(
      std::span<const std::string> keys,
      Nanos for_so_long = std::chrono::minutes(10)) const requires std::same_as<V, std::string> {
    return warm(keys, engine_.source(), for_so_long);
  }

  // The busiest keys, busiest first: hot, write-hot and warm ones, by their traffic. A key that
  // only warm() made hot is not among them, and on_hot() does not report it.
  std::vector<HotKeyInfo> top(std::size_t n = 100) const { return engine_.top(n); }
  Stats stats() const { return engine_.stats(); }
  // stats() in the text format of Prometheus, for a page that the application serves as
  // "text/plain; version=0.0.4". It has the proxy's metric names and names no key.
  std::string metrics_text() const { return engine_.metrics_text(); }
  // A thread of the Client calls `callback` when a key becomes hot and when it is no longer hot.
  // The callback must not wait for long and must not call close(). All callbacks get all events.
  void on_hot(std::function<void(const HotEvent&)> callback) const {
    engine_.on_hot(std::move(callback));
  }

  // A thread of the Client calls `callback` every report.interval, even if report.enabled is false.
  // The callback must not wait for long and must not call close().
  void on_report(std::function<void(const Stats&)> callback) const {
    engine_.on_report(std::move(callback));
  }

  // From now on the Client keeps and refreshes nothing, and get() calls the loader. Waits for loads
  // that are under way in the background. The destructor of the last copy calls it, too.
  void close() const { engine_.close(); }

 private:
  // `change` writes to the source and returns the new copy.
  template <class Change>
  void write(std::string_view key, Change change) const {
    const Engine::Write write = engine_.begin_write(key);
    std::shared_ptr<CachedValue> cached;
    try {
      cached = change(std::string(key));
    } catch (...) {
      engine_.end_write(write, nullptr);
      throw;
    }
    engine_.end_write(write, std::move(cached));
  }

  Engine engine_;
};

}  // namespace heatsink::client
