// SPDX-License-Identifier: Apache-2.0
// Decides when an alert is sent: once at its begin, again while it lasts, and once at its end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/alerts/alert.h"
#include "heatsink/policy/alert_options.h"

namespace heatsink::alerts {

// One thread. Memory: at most kAlertsMax + kSevereMore alerts, about 1 KB each. Time is an
// argument.
class AlertBook {
 public:
  static constexpr std::size_t kAlertsMax = 2048;
  // Room that only alerts above Severity::kInfo take: many hot keys must not keep them out.
  static constexpr std::size_t kSevereMore = 64;

  explicit AlertBook(const policy::AlertOptions& options) { set(options); }
  void set(const policy::AlertOptions& options);

  // `active`: all alerts whose cause holds now, most important first. Returns what is to be told.
  std::vector<Notice> turn(const std::vector<Alert>& active, TimePoint now);

  // Begins with what a process before this one told. What does not hold any more ends after
  // Conditions::learns() and alerts.resolve-after, or in the next turn if its end is still to be
  // told. Call it before turn().
  void restore(const std::vector<ToldAlert>& told, TimePoint now);
  std::vector<ToldAlert> told() const;

  // Alerts that targets were told of and that are not over.
  std::vector<Notice> firing() const;
  std::optional<Notice> find(const std::string& identity) const;  // the same, one
  // At most `count` firing alerts, most severe first.
  std::vector<Notice> most_severe(std::size_t count) const;
  std::uint64_t told(Kind kind) const { return told_[static_cast<std::size_t>(kind)]; }
  // Alerts that ended before alerts.per-minute let them be told, or did not fit into the book.
  std::uint64_t held_back() const { return held_back_; }

 private:
  struct Entry {
    Alert alert;
    TimePoint active_at{};             // to come: until then this process may not have found it yet
    std::optional<TimePoint> told_at;  // nothing: it waits for alerts.per-minute
  };
  bool may_tell(TimePoint now);
  void end_old(std::vector<Notice>& out, TimePoint now);

  Nanos resolve_after_{0}, repeat_{0};
  std::array<Nanos, kKinds> learns_{};
  double per_minute_ = 0;
  double tokens_ = 0;  // new alerts that may be told now
  std::optional<TimePoint> filled_at_;
  std::map<std::string, Entry> entries_;  // by identity
  std::array<std::uint64_t, kKinds> told_{};
  std::uint64_t held_back_ = 0;
};

}  // namespace heatsink::alerts
