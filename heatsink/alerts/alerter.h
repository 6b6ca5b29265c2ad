// SPDX-License-Identifier: Apache-2.0
// Watches a proxy's reports once a second, and tells the targets what is worth an alert.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/alerts/alert_book.h"
#include "heatsink/alerts/conditions.h"
#include "heatsink/alerts/courier.h"
#include "heatsink/alerts/repeat_round.h"
#include "heatsink/alerts/state_file.h"
#include "heatsink/alerts/targets.h"
#include "heatsink/base/metric.h"
#include "heatsink/policy/alert_options.h"
#include "heatsink/report/report.h"

namespace heatsink::alerts {

// Has a thread that watches, and one for each target. No caller ever waits for a target.
// Thread-safe, but for construction and destruction.
class Alerter {
 public:
  // A process that hands over has the file until the next one serves.
  static constexpr Nanos kPredecessor = std::chrono::minutes(1);

  struct Sources {
    std::function<report::Report()> report;  // by the watching thread; may take a second
    std::string instance;                    // "cache-1:6380"
    // Keeps what was told for the next process; "": nothing does. While the process before this one
    // has the file, this one watches nothing.
    std::string state_file{};
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
  bool may_alert(TimePoint now);
  void repeat(TimePoint now);
  void keep();
  Letterhead head() const;
  void tell(const std::vector<Notice>& notices);
  bool wait();

  const Sources sources_;
  const bool logs_;
  const bool keeps_alive_;  // Alertmanager forgets alerts that it hears nothing of
  // Only for the thread.
  RepeatRound round_;
  std::optional<StateFile> state_;
  std::optional<TimePoint> waits_since_;  // for the file
  std::uint64_t kept_ = 0;                // signature of what the file has
  mutable std::mutex mutex_;              // guards book_, conditions_, upstream_
  std::condition_variable wake_;
  Conditions conditions_;
  AlertBook book_;
  std::string upstream_;  // of the last report
  std::vector<std::unique_ptr<Courier>> couriers_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// The notice that `heatsink alert test` sends.
Notice test_notice(TimePoint now);

}  // namespace heatsink::alerts
