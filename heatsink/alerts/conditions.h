// SPDX-License-Identifier: Apache-2.0
// Finds what is worth an alert in a node's reports. Time is an argument.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "heatsink/alerts/alert.h"
#include "heatsink/alerts/hit_ratio_memory.h"
#include "heatsink/policy/alert_options.h"
#include "heatsink/report/report.h"

namespace heatsink::alerts {

// One thread. Call observe() about once a second.
class Conditions {
 public:
  static constexpr Nanos kHoldsFor = std::chrono::minutes(1);  // imbalance, hit ratio
  static constexpr double kLoadMin = 100;  // requests per second, below which these say nothing

  explicit Conditions(const policy::AlertOptions& options) { set(options); }
  void set(const policy::AlertOptions& options);

  // All alerts whose cause holds now, most important first: what concerns all clients, then keys,
  // busiest first. The count of stale copies in the first report is where later ones begin.
  std::vector<Alert> observe(const report::Report& report, TimePoint now);

 private:
  bool is_on(Kind kind) const { return on_[static_cast<std::size_t>(kind)]; }
  // Whether `holds` was true for `time`, up to now.
  bool has_held(Kind kind, bool holds, Nanos time, TimePoint now);
  void add(std::vector<Alert>& out, Alert alert) const;
  void add_server(std::vector<Alert>& out, const report::Report& report, TimePoint now);
  void add_stale(std::vector<Alert>& out, const report::Report& report, TimePoint now);
  void add_imbalance(std::vector<Alert>& out, const report::Report& report, TimePoint now);
  void add_hit_ratio(std::vector<Alert>& out, const report::Report& report, TimePoint now);
  void add_key(std::vector<Alert>& out, const report::KeyReport& key) const;

  policy::AlertOptions options_;
  std::array<bool, kKinds> on_{};
  std::array<std::optional<TimePoint>, kKinds> since_{};
  HitRatioMemory hit_ratio_;
  std::optional<std::uint64_t> stale_known_;
};

}  // namespace heatsink::alerts
