// SPDX-License-Identifier: Apache-2.0
// Declares the options under upstream.*: the server, and what happens while it is away.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "heatsink/base/option.h"
#include "heatsink/base/units.h"

namespace heatsink::policy {

// The words of these options, in the order of their rows' choices.
enum class CrossSlot : std::uint8_t { kSplit, kRefuse };
enum class OnDown : std::uint8_t { kClose, kError };

// Plain values, a part of ProxyOptions. describe() adds the option rows, which point into this
// object.
struct UpstreamOptions {
  std::string upstream = "redis://127.0.0.1:6379";
  std::string upstream_password_file;
  std::string upstream_translate;
  CrossSlot cross_slot = CrossSlot::kSplit;
  std::string zone;
  std::string zones;
  std::string sentinel_user;
  std::string sentinel_password_file;
  std::string sentinel_password;  // no option: what is in that file
  std::string upstream_tls_ca, upstream_tls_cert, upstream_tls_key, upstream_tls_server_name;
  bool upstream_tls_verify = true;
  Nanos connect_timeout = std::chrono::seconds(1);
  Nanos response_timeout = std::chrono::seconds(10);
  Nanos slot_stats_interval = std::chrono::seconds(10);
  OnDown on_down = OnDown::kClose;
  Nanos connect_wait = std::chrono::seconds(2);  // 0: requests do not wait for a server
  Nanos backoff_min = Millis(50);
  Nanos backoff_max = std::chrono::seconds(2);

  void describe(OptionSet& set);
};

}  // namespace heatsink::policy
