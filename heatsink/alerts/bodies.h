// SPDX-License-Identifier: Apache-2.0
// Writes messages as heatsink's own JSON, for Slack, and for Prometheus' Alertmanager. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heatsink/alerts/alert.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::alerts {

// The sender and the moment that a message names.
struct Letterhead {
  std::string instance;  // "cache-1:6380": the machine and the port of the proxy
  std::string upstream;  // "127.0.0.1:6379"
  TimePoint boot{};      // now, on both clocks
  WallTime wall{};

  std::string time(TimePoint moment) const;  // "2026-11-21T12:00:00.123Z"
};

// All take at most Delivery::kMessageMax notices; any text is escaped.
std::string json_body(const std::vector<Notice>& notices, const Letterhead& head);
std::string slack_body(const std::vector<Notice>& notices, const Letterhead& head);
// An alert that lasts ends kAlertmanagerHolds after its message, unless another one comes: so a
// proxy that has died leaves no alert behind.
inline constexpr Nanos kAlertmanagerHolds = std::chrono::minutes(5);
std::string alertmanager_body(const std::vector<Notice>& notices, const Letterhead& head);

// "extremely-hot: page:1 is extremely hot: ...: what to do"
std::string log_line(const Notice& notice);

}  // namespace heatsink::alerts
