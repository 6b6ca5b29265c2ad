// SPDX-License-Identifier: Apache-2.0
// proxy: accepts clients, forwards commands to one server, and serves hot keys from local copies.
// Start here: one Proxy owns all threads of `heatsink proxy` except those of the admin API.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/metric.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/detect.h"
#include "heatsink/policy/key_display.h"
#include "heatsink/policy/limit_policy.h"
#include "heatsink/policy/options.h"
#include "heatsink/policy/rules.h"
#include "heatsink/policy/tls.h"
#include "heatsink/policy/warm_window.h"
#include "heatsink/proxy/proxy_metrics.h"  // IWYU pragma: export
#include "heatsink/report/report.h"

namespace heatsink::proxy {

// Thread-safe, except for construction and destruction.
class Proxy {
 public:
  // Binds the address, starts the threads and returns. Clients are accepted from now on, even while
  // the server cannot be reached. After an error nothing is left running. `seed` protects the
  // hashes against chosen keys: draw it at random.
  static Result<std::unique_ptr<Proxy>> start(const policy::ProxyOptions& options,
                                              std::uint64_t seed);
  ~Proxy();  // closes all connections and joins the threads

  std::uint16_t port() const;                 // 0: a Unix socket
  report::Report report() const;              // takes up to a second if the keeper is busy
  std::vector<report::Event> events() const;  // the latest changes of verdicts, oldest first
  MetricSamples metrics() const;
  // Keys that an operator has made hot. Each call takes up to three seconds.
  report::WarmReport warm(report::WarmOrder order);
  report::WarmReport warmed(std::uint64_t search = 0) const;
  // Everything known about a key. Asks the server about its value, and takes up to two seconds.
  report::KeyInspection inspect(std::string name, std::uint32_t db) const;
  // What holds now, with the workers that run.
  policy::ProxyOptions options() const;
  const policy::KeyDisplay& shown() const;
  // The same options except for those that need a restart (policy::without_restarts()), which must
  // be the running ones. Returns when each later request is served by the new ones; the number
  // counts the configurations, the one at the start is 1. An error changes nothing, unless it is
  // kTimedOut: then a thread was busy for kAdoptWithin, and will follow later. One call at a time.
  static constexpr Nanos kAdoptWithin = std::chrono::seconds(10);
  Result<std::uint64_t> apply(const policy::ProxyOptions& options);
  // An event for people: the configuration was changed, or a change was refused. Logs it, too.
  void add_config_event(report::Event::Config config, std::string reason);
  // Reloads certificates, keys and authorities for new connections. An error leaves everything as
  // it was.
  Status reload_tls();
  // How often the server has been reached, or lost. One atomic load.
  std::uint64_t contact_changes() const;
  // Ok while the keeper and all workers come round their loops; else an error that names the thread
  // that is stuck. Reads one number of each thread, and waits for none.
  Status alive(TimePoint now) const;
  Status ready() const;  // ok if the server can be reached; else an error with the reason

 private:
  struct Threads;
  explicit Proxy(std::unique_ptr<Threads> threads);
  std::unique_ptr<Threads> threads_;
};

}  // namespace heatsink::proxy
