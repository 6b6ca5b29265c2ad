// SPDX-License-Identifier: Apache-2.0
// The compiled part of a Client: everything that does not depend on the type of the values.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/client/begun_write.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/options.h"
#include "heatsink/client/stats.h"

namespace heatsink::client {

class Core;  // the implementation; its header is not installed
class Runtime;

// For Client and Local, not for applications. A handle: copies share one Core. Thread-safe.
//
// A hit is one call of read() and one call to end the read. So the hashing, searching and counting
// of keys is not compiled into applications (docs/decisions/0014-a-hit-is-one-call.md).
class Engine {
 public:
  explicit Engine(const ClientOptions& options);
  // For simulations: uses the time and threads of the runtime, which must outlive all copies.
  Engine(const ClientOptions& options, Runtime& runtime);

  const ClientOptions& options() const;

  // The result of a look-up.
  struct Lookup {
    const CachedValue* cached;  // null: no copy that may be served
    bool is_kept;               // load() shares the load and keeps its value
  };
  // A hit takes no lock and allocates nothing. read() counts the access; if there is no copy, the
  // key may earn one. If there is a copy, the thread is reading now: a cache::ReadGuard must
  // adopt that read, and the copy is valid until the guard ends.
  Lookup read(std::string_view key) const;
  Lookup peek(std::string_view key) const noexcept;
  void record(std::string_view key) const noexcept;

  // For a kept key without a servable copy: loads it, or waits for another caller's load. Throws
  // what the load throws, or LoadRefused.
  SharedCachedValue load(std::string_view key, const Load& load) const;

  // A write of the key: call begin_write() before the source is written, and end_write() exactly
  // once after it. `cached` becomes the copy if no other write overlapped; otherwise the copy is
  // dropped.
  using Write = BegunWrite;
  Write begin_write(std::string_view key) const;
  void end_write(const Write& write, std::shared_ptr<CachedValue> cached) const;
  void invalidate(std::string_view key) const;

  // The value that a cold key's load returned is about to be returned to the caller.
  void end_cold_load(std::string_view key) const;

  // Commands to the server of server.url, on the client's own connection. They throw ServerError
  // and ServerUnavailable. A write must be between begin_write() and end_write().
  struct Source {
    Core* core;  // not owned: the Core owns the loads that refer to it
    std::optional<std::string> operator()(const std::string& key) const;
  };
  Source source() const { return {core_.get()}; }
  void store(std::string_view key, std::string_view value, std::optional<Millis> ttl) const;
  void remove(std::string_view key) const;

  bool is_kept(std::string_view key) const;
  bool is_hot(std::string_view key) const;
  // Makes the key hot for `for_so_long`, whatever its traffic, and loads it as Client::warm()
  // describes. False: cache.maximum-size keys are hot already.
  bool warm(std::string_view key, Nanos for_so_long, Load load) const;

  std::vector<HotKeyInfo> top(std::size_t n) const;
  Stats stats() const;
  std::string metrics_text() const;
  void on_hot(std::function<void(const HotEvent&)> callback) const;
  void on_report(std::function<void(const Stats&)> callback) const;
  void close() const;

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace heatsink::client
