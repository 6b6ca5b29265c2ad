// SPDX-License-Identifier: Apache-2.0
// client: local reads of hot keys inside the process. The loader says where values come from; a
// hit costs nanoseconds. Start with Client below, then options.h; window_stats.h has what all
// processes measure together. Functions of the room distributed take their server from
// server_options.h; metrics.h has the rows of the metrics.
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

#include "heatsink/client/box.h"      // IWYU pragma: export
#include "heatsink/client/engine.h"   // IWYU pragma: export
#include "heatsink/client/errors.h"   // IWYU pragma: export
#include "heatsink/client/local.h"    // IWYU pragma: export
#include "heatsink/client/options.h"  // IWYU pragma: export
#include "heatsink/client/size_of.h"  // IWYU pragma: export
#include "heatsink/client/stats.h"    // IWYU pragma: export

namespace heatsink::client {

// Fetches the value of a key from wherever it is; an empty optional: there is none. It may throw.
// Copies of it are kept and called in the background, so what it refers to must outlive the Client.
template <class L, class V>
concept Loader = std::copy_constructible<std::decay_t<L>> &&
    std::is_invocable_r_v<std::optional<V>, L&, const std::string&>;

// Counts every access, and keeps local copies of the keys that are hot; cold keys go to the loader
// and are counted, nothing else. A copy is served for cache.expire-after-write after its load began
// and refreshed before; a write through this object replaces it (level `ttl`: writes by others are
// seen at the next refresh). With server.url keys are keys of that server, which tells of every
// change: level `key`, linearizable per key for all who read and write through this object, and
// never older than cache.max-staleness (docs/guides/consistency.md). Any loader that reads that key
// there will do; it is called after the server has begun to track the key.
//
// Thread-safe; cheap to copy, and copies share everything. What a thread is reading survives the
// last copy of the Client. A hit takes no lock and allocates nothing. Not to be used in destructors
// of thread_local objects.
template <class V = std::string>
class Client {
 public:
  // Throws std::invalid_argument where server.url, admin.listen, or a file that an option names, is
  // of no use. That the server is not there is no error: it is looked for in the background. Nor is
  // it that another process has the port of admin.listen: this one has no page then.
  explicit Client(const ClientOptions& options = {}) : engine_(options) {}

  // The local copy, or what the loader says. Throws what the loader throws; LoadRefused if the key
  // is hot and too many wait for its one load.
  template <Loader<V> L>
  Local<V> get(std::string_view key, L&& loader) const {
    return Local<V>(engine_, key, loader);
  }
  // get() in two steps, for callers that must not wait where they read: those with an event loop,
  // or with a lock of their own that the loader needs, too. First the local copy, counted as a
  // read; nobody is asked.
  Local<V> read(std::string_view key) const {
    return Local<V>(engine_, key, typename Local<V>::Read{});
  }
  // Then, if that was no hit, the rest of get().
  template <Loader<V> L>
  Local<V> load(std::string_view key, L&& loader) const {
    return Local<V>(engine_, key, loader, typename Local<V>::Counted{});
  }
  // Of the server of server.url, by the Client's own connection: GET. Throws ServerError,
  // ServerUnavailable, or LoadRefused as above.
  Local<V> get(std::string_view key) const requires std::same_as<V, std::string> {
    return get(key, engine_.source());
  }
  // The same without a look at copies, counted by nobody, and nothing is kept: for loaders that
  // make something of what the server has.
  std::optional<std::string> fetch(
      std::string_view key) const requires std::same_as<V, std::string> {
    return engine_.source()(std::string(key));
  }
  // The local copy if there is one; counts nothing and asks nobody.
  Local<V> peek(std::string_view key) const {
    return Local<V>(engine_, key, typename Local<V>::Peek{});
  }

  // Writes to the source by `store(key, value)`, then to the local copy. If `store` throws, nobody
  // knows what the source holds: the copy goes, and the exception is passed on.
  template <std::invocable<const std::string&, const V&> S>
  void set(std::string_view key, V value, S&& store) const {
    write(key, [&](const std::string& name) {
      store(name, value);
      return std::make_shared<BoxOf<V>>(std::move(value));
    });
  }
  // The same for a deletion, by `remove(key)`.
  template <std::invocable<const std::string&> R>
  void del(std::string_view key, R&& remove) const {
    write(key, [&](const std::string& name) {
      remove(name);
      return std::make_shared<EmptyBox>();
    });
  }
  // On the server of server.url: SET, with PX if it is to end by itself, and DEL.
  // ServerUnavailable: nobody knows whether it has been written, or will be.
  void set(std::string_view key, std::string_view value,
           std::optional<Millis> ttl = std::nullopt) const requires std::same_as<V, std::string> {
    write(key, [&](const std::string& name) {
      engine_.store(name, value, ttl);
      return std::shared_ptr<Box>();
    });
  }
  void del(std::string_view key) const requires std::same_as<V, std::string> {
    write(key, [&](const std::string& name) {
      engine_.remove(name);
      return std::shared_ptr<Box>();
    });
  }
  // The source has been written already, by whoever: the copy is this from now on / goes. With
  // server.url both make it go.
  void update(std::string_view key, V value) const {
    const Engine::Write write = engine_.begin_write(key);
    engine_.end_write(write, std::make_shared<BoxOf<V>>(std::move(value)));
  }
  void invalidate(std::string_view key) const { engine_.invalidate(key); }

  bool is_hot(std::string_view key) const { return engine_.is_hot(key); }
  // Counts an access that goes another way.
  void record(std::string_view key) const noexcept { engine_.record(key); }

  // These keys are hot for so long, whatever their traffic, and are loaded: by the threads of
  // refresh.threads, after this has returned; without refresh.enabled here, before it returns. A
  // get() that comes while such a load is under way joins it; one that comes before loads the key
  // itself, and the background leaves that key out. Returns those for which cache.maximum-size has
  // no room.
  template <Loader<V> L>
  std::vector<std::string> warm(std::span<const std::string> keys, const L& loader,
                                Nanos for_so_long = std::chrono::minutes(10)) const {
    std::vector<std::string> refused;
    for (const std::string& key : keys)
      if (!engine_.warm(key, for_so_long, load_of<V>(loader, key))) refused.push_back(key);
    return refused;
  }

  // Likewise, from the server of server.url.
  std::vector<std::string> warm(
      std::span<const std::string> keys,
      Nanos for_so_long = std::chrono::minutes(10)) const requires std::same_as<V, std::string> {
    return warm(keys, engine_.source(), for_so_long);
  }

  // The busiest keys, busiest first: hot, write-hot and warm ones.
  std::vector<HotKeyInfo> top(std::size_t n = 100) const { return engine_.top(n); }
  Stats stats() const { return engine_.stats(); }
  // The same in the text format that Prometheus scrapes, for a page that the application serves as
  // "text/plain; version=0.0.4". By the proxy's names; no key is named.
  std::string metrics_text() const { return engine_.metrics_text(); }
  // Called when a key becomes hot, and when it is hot no longer, by a thread of the Client's: it
  // must not wait for long, and not call close(). All callbacks get all events.
  void on_hot(std::function<void(const HotEvent&)> callback) const {
    engine_.on_hot(std::move(callback));
  }

  // Called each report.interval, whatever report.enabled says; likewise.
  void on_report(std::function<void(const Stats&)> callback) const {
    engine_.on_report(std::move(callback));
  }

  // Nothing is kept or refreshed any more; get() goes to the loader. Waits for loads that are under
  // way in the background. The last copy of the Client does it, too.
  void close() const { engine_.close(); }

 private:
  // `change` writes to the source and returns what the copy is then.
  template <class Change>
  void write(std::string_view key, Change change) const {
    const Engine::Write write = engine_.begin_write(key);
    std::shared_ptr<Box> box;
    try {
      box = change(std::string(key));
    } catch (...) {
      engine_.end_write(write, nullptr);
      throw;
    }
    engine_.end_write(write, std::move(box));
  }

  Engine engine_;
};

}  // namespace heatsink::client
