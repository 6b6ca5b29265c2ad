// SPDX-License-Identifier: Apache-2.0
// Reports for tests of the alerts.
#pragma once

#include <string>
#include <utility>

#include "heatsink/report/report.h"

namespace heatsink::alerts {

inline constexpr Nanos kSecond = std::chrono::seconds(1);

inline TimePoint at_second(std::int64_t seconds) { return TimePoint(seconds * kSecond); }

// A server that is there, without traffic.
inline report::Report calm_report() {
  report::Report report;
  report.upstream = "127.0.0.1:6379";
  report.upstream_up = true;
  return report;
}

inline report::KeyReport hot_key(std::string name, double reads_per_second, double share) {
  report::KeyReport key;
  key.verdict.count.key = std::move(name);
  key.verdict.count.reads = static_cast<std::uint64_t>(10 * reads_per_second);
  key.verdict.temperature = detect::Temperature::kHot;
  key.verdict.share = share;
  key.verdict.since = at_second(7);
  return key;
}

}  // namespace heatsink::alerts
