// SPDX-License-Identifier: Apache-2.0
// Finds what is worth an alert in a node's reports. Time is an argument.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "heatsink/alerts/alert.h"
#include "heatsink/base/clock.h"
#include "heatsink/policy/alert_options.h"
#include "heatsink/report/report.h"

namespace heatsink::alerts {

// Remembers the hit ratio of the last hour, to notice when it falls. Two means of the hit ratio
// that forget exponentially: one over an hour, one over half a minute. A plain value.
class HitRatioMemory {
 public:
  static constexpr Nanos kLongTime = std::chrono::hours(1);
  static constexpr Nanos kShortTime = std::chrono::seconds(30);
  static constexpr Nanos kLearns = std::chrono::minutes(10);  // before it judges
  static constexpr double kRatioMin = 0.1;                    // less is nothing to miss

  // A gap counts as one second at most, so that a pause of the traffic changes nothing.
  void learn(double ratio, TimePoint now);

  // Whether at least this part of the usual ratio is gone: 0.5 is half of it.
  bool has_fallen(double part) const {
    return learned_ >= kLearns && usual_ >= kRatioMin && lately_ <= usual_ * (1 - part);
  }
  double usual() const { return usual_; }
  double lately() const { return lately_; }

 private:
  std::optional<TimePoint> learned_at_;
  Nanos learned_{0};
  double usual_ = 0, lately_ = 0;
};

// One thread. Call observe() about once a second.
class Conditions {
 public:
  static constexpr Nanos kHoldsFor = std::chrono::minutes(1);  // imbalance, hit ratio
  static constexpr double kLoadMin = 100;  // requests per second, below which these say nothing

  // How long new Conditions may need until they tell of what held before them, too.
  static Nanos learns(Kind kind, const policy::AlertOptions& options);

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
