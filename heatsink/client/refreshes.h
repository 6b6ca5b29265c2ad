// SPDX-License-Identifier: Apache-2.0
// Hands the background loads of hot keys to threads, each when it is due.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/chance.h"
#include "heatsink/client/options.h"
#include "heatsink/client/refresh_schedule.h"
#include "heatsink/client/runtime.h"

namespace heatsink::client {

// A RefreshSchedule with a lock, a clock and a condition. Any thread; only next() blocks. It does
// not load: Loads::refresh() does, in the threads that call next().
class Refreshes {
 public:
  // All arguments outlive it.
  Refreshes(const ClientOptions& options, Runtime& runtime, Chance& chance);

  Nanos interval() const { return schedule_.interval(); }

  // The key was loaded at `loaded_at`, by this loader. From now on it is loaded every interval.
  void loaded(KeyHash hash, Load load, TimePoint loaded_at);
  // Makes the key due since `wanted_at`, if its loader is known. Without it: since now.
  void hurry(KeyHash hash, TimePoint wanted_at);
  void hurry(KeyHash hash) { hurry(hash, runtime_.now()); }
  void forget(KeyHash hash);

  // For a thread that loads: `next (succeeded | skipped | failed | forget)`, until next() returns
  // nothing.
  // Waits until a key is due. Nothing: close() was called.
  std::optional<RefreshSchedule::Job> next();
  void succeeded(KeyHash hash);
  void skipped(KeyHash hash);  // a caller has loaded the key, or is loading it
  // True: its load failed too often in a row. The key is forgotten.
  bool failed(KeyHash hash);

  void close();  // ends all calls of next()

 private:
  Runtime& runtime_;
  Chance& chance_;
  std::mutex mutex_;
  const std::unique_ptr<Condition> changed_ = runtime_.make_condition();
  RefreshSchedule schedule_;
  bool is_closed_ = false;
};

}  // namespace heatsink::client
