// SPDX-License-Identifier: Apache-2.0
// proxy: accepts clients, forwards commands to one server, and serves hot keys from local copies.
// Start here: one Proxy is all threads of `heatsink proxy` but the admin API's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/metric.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/detect.h"
#include "heatsink/policy/limit_policy.h"
#include "heatsink/policy/options.h"
#include "heatsink/policy/rules.h"
#include "heatsink/policy/tls.h"
#include "heatsink/policy/warm_window.h"
#include "heatsink/proxy/proxy_metrics.h"  // IWYU pragma: export
#include "heatsink/report/report.h"

namespace heatsink::proxy {

// Thread-safe but for its construction and destruction.
class Proxy {
 public:
  // Binds, starts the threads and returns: clients are accepted from now on, whether the server can
  // be reached or not. Nothing is left running after an error. `seed` protects the hashes: draw it
  // at random.
  static Result<std::unique_ptr<Proxy>> start(const policy::ProxyOptions& options,
                                              std::uint64_t seed);
  ~Proxy();  // closes all connections and joins the threads

  std::uint16_t port() const;                 // 0: a Unix socket
  report::Report report() const;              // takes up to a second if the keeper is busy
  std::vector<report::Event> events() const;  // the latest changes of verdicts, oldest first
  MetricSamples metrics() const;
  // Keys that are hot because somebody says so. Each takes up to three seconds.
  report::WarmReport warm(report::WarmOrder order);
  report::WarmReport warmed(std::uint64_t search = 0) const;
  // All that is known of a key; the server is asked about its value. Takes up to two seconds.
  report::KeyInspection inspect(std::string name, std::uint32_t db) const;
  // Reads certificates, keys and authorities again, for connections that begin from now on. With an
  // error all stays as it was.
  Status reload_tls();
  Status ready() const;  // the server can be reached; else why not

 private:
  struct Threads;
  explicit Proxy(std::unique_ptr<Threads> threads);
  std::unique_ptr<Threads> threads_;
};

}  // namespace heatsink::proxy
