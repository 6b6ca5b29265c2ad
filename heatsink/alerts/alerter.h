// SPDX-License-Identifier: Apache-2.0
// Watches a proxy's reports once a second, and tells the targets what is worth an alert.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/alerts/alert_book.h"
#include "heatsink/alerts/conditions.h"
#include "heatsink/alerts/courier.h"
#include "heatsink/alerts/targets.h"
#include "heatsink/base/metric.h"
#include "heatsink/policy/alert_options.h"
#include "heatsink/report/report.h"

namespace heatsink::alerts {

// Has a thread that watches, and one for each target. No caller ever waits for a target.
// Thread-safe, but for construction and destruction.
class Alerter {
 public:
  struct Sources {
    std::function<report::Report()> report;  // by the watching thread; may take a second
    std::string instance;                    // "cache-1:6380"
  };

  // Error: a file that an option names cannot be used, or no thread can be started.
  static Result<std::unique_ptr<Alerter>> start(const policy::AlertOptions& options,
                                                Sources sources);
  ~Alerter();  // drops what waits; within about 200 ms, plus a report in progress
  Alerter(const Alerter&) = delete;
  Alerter& operator=(const Alerter&) = delete;

  // From the next second on; the targets stay.
  void apply(const policy::AlertOptions& options);

  MetricSamples samples() const;
  static MetricRows metric_rows();

 private:
  Alerter(const policy::AlertOptions& options, Sources sources);
  void run();
  void look();
  Letterhead head() const;
  void tell(const std::vector<Notice>& notices);
  bool wait();

  const Sources sources_;
  const bool logs_;
  const bool keeps_alive_;  // Alertmanager forgets alerts that it hears nothing of
  TimePoint kept_alive_at_{};
  mutable std::mutex mutex_;  // guards book_, conditions_, upstream_
  std::condition_variable wake_;
  Conditions conditions_;
  AlertBook book_;
  std::string upstream_;  // of the last report
  std::vector<std::unique_ptr<Courier>> couriers_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// What `heatsink alert test` sends.
Notice test_notice(TimePoint now);

}  // namespace heatsink::alerts
