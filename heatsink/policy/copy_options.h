// SPDX-License-Identifier: Apache-2.0
// Declares the options under cache.*, refresh.* and audit.*: which keys get local copies, and how
// these are kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "heatsink/base/option.h"
#include "heatsink/base/units.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/policy/rule_options.h"

namespace heatsink::policy {

// Plain values, a part of ProxyOptions. describe() adds the option rows, which point into this
// object.
struct CopyOptions {
  // cache.*
  bool cache_enabled = true;
  Admission admission = Admission::kPays;
  cache::Level level = cache::Level::kKey;
  std::int64_t maximum_size = 65'536;
  Bytes maximum_bytes = mebibytes(64);
  Bytes maximum_value_bytes = kibibytes(256);
  std::int64_t maximum_nil = 100;
  std::int64_t maximum_tracked_keys = 100'000;
  Share warm_share{0.5};
  double server_weight = 1;
  double wait_weight = 0.01;
  Nanos expire_after_write = std::chrono::seconds(10);
  Nanos max_staleness = std::chrono::seconds(1);
  std::int64_t maximum_waiters = 1024;
  Nanos heartbeat_interval = Millis(100);
  Nanos acl_staleness = std::chrono::seconds(1);
  std::string heartbeat_key = "heatsink:heartbeat";

  // refresh.*
  bool refresh_enabled = true;
  Nanos refresh_interval = Millis(50);
  Share refresh_ahead{0.2};
  std::int64_t refresh_failures_max = 3;

  // audit.*
  Share audit_rate{0.001};
  std::int64_t audits_per_second = 10;

  void describe(OptionSet& set);
};

}  // namespace heatsink::policy
