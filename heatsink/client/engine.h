// SPDX-License-Identifier: Apache-2.0
// The part of a Client that is compiled into the library: everything that does not know the type of
// the values.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/box.h"
#include "heatsink/client/options.h"
#include "heatsink/client/stats.h"

namespace heatsink::client {

class Core;  // who does it all; its header is not installed

// For Client and Local, not for applications. A handle: copies share one Core. Thread-safe.
//
// A hit is one call of read(), and one that unpins. So no application depends on how keys are
// hashed, found and counted.
class Engine {
 public:
  explicit Engine(const ClientOptions& options);

  const ClientOptions& options() const;

  // What is here of a key.
  struct Sight {
    const Box* box;  // null: no copy that may be served
    bool is_hot;
  };
  // No lock, no allocation. read() counts the access. Where there is a box the thread is pinned
  // now: a cache::Pin has to adopt that, and the box is valid until its end.
  Sight read(std::string_view key) const noexcept;
  Sight peek(std::string_view key) const noexcept;
  void record(std::string_view key) const noexcept;

  // Of a key that is hot and has no copy that may be served: loads it, or waits for another who
  // does. Throws what the load throws, or LoadRefused.
  SharedBox load(std::string_view key, const Load& load) const;

  // A write of the key: `begin` before the source is written, and exactly one end after it. The
  // copy becomes `box` if it is certain that nothing was written in between, else it goes.
  struct Write {
    KeyHash hash;
    TimePoint began_at;
  };
  Write begin_write(std::string_view key) const;
  void end_write(const Write& write, std::shared_ptr<Box> box) const;
  void invalidate(std::string_view key) const;

  // What a load of a key that was not hot has brought is about to be shown.
  void passed(std::string_view key) const;

  // The server of server.url, by the client's own connection. They throw ServerError and
  // ServerUnavailable. A write is to be between begin_write() and end_write().
  struct Source {
    Core* core;  // is not owned: what is kept of loads, the Core itself keeps
    std::optional<std::string> operator()(const std::string& key) const;
  };
  Source source() const { return {core_.get()}; }
  void store(std::string_view key, std::string_view value, std::optional<Millis> ttl) const;
  void remove(std::string_view key) const;

  bool is_hot(std::string_view key) const;
  // Hot for so long, whatever detection says, and loaded as Client::warm() says. False: as many
  // keys as cache.maximum-size are hot.
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
