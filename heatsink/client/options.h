// SPDX-License-Identifier: Apache-2.0
// All options of a Client, and how they are read from code, YAML or the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink {
class OptionSet;
}

namespace heatsink::client {

// Plain values with their defaults. Names, bounds and meanings are in options.cc and in
// docs/reference/library-options.md.
//
// from_yaml(), with() and so on check each value and what must fit together. Assignments to the
// fields are not checked; the Client checks what must fit together, but no bounds.
struct ClientOptions {
  // server.*; an empty URL means no server, and copies of level `ttl`
  std::string server_url;
  std::string server_tls_ca, server_tls_cert, server_tls_key, server_tls_server_name;
  bool server_tls_verify = true;
  std::string server_sentinel_user, server_sentinel_password;
  std::string server_translate;
  Nanos server_connect_timeout = std::chrono::seconds(1);
  Nanos server_response_timeout = std::chrono::seconds(5);
  Nanos server_backoff_min = Millis(50);
  Nanos server_backoff_max = std::chrono::seconds(2);

  // detection.*
  bool detection_enabled = true;
  Nanos window = std::chrono::seconds(10);
  std::optional<double> hot_qps, warm_qps;  // nothing: automatic (detect::set_thresholds())
  std::int64_t top_n = 200;
  std::int64_t confirm_windows = 1;
  double demote_ratio = 0.8;
  double write_hot_ratio = 10;
  Nanos minimum_residence = std::chrono::seconds(10);
  Nanos promotion_interval{0};
  Nanos demotion_interval = std::chrono::seconds(60);
  Nanos tick = Millis(100);
  std::int64_t fleet_size = 1;

  // fleet.*: counts together with other processes, through the server
  bool fleet_enabled = false;
  std::string fleet_name = "default";
  Nanos fleet_interval = Millis(250);
  std::int64_t fleet_shards = 1;

  // recorder.*
  std::int64_t capacity = 10'000;
  std::int64_t shards = 0;  // 0: one per core, at most 8
  Nanos inactive_expire = std::chrono::seconds(300);

  // cache.*
  bool cache_enabled = true;
  std::string admission = "pays";
  std::int64_t maximum_size = 65'536;
  std::int64_t maximum_nil = 100;
  Bytes maximum_bytes = mebibytes(64);
  Nanos expire_after_write = std::chrono::seconds(60);
  Nanos max_staleness = std::chrono::seconds(1);
  Nanos heartbeat_interval = Millis(100);
  std::string heartbeat_key = "heatsink:heartbeat";
  std::int64_t maximum_waiters = 1000;
  Nanos wait_timeout = std::chrono::seconds(5);

  // refresh.*
  bool refresh_enabled = true;
  Nanos refresh_interval = std::chrono::seconds(10);
  double refresh_jitter = 0.1;
  std::int64_t refresh_threads = 2;
  std::int64_t max_failures = 3;
  double early_refresh = 1;
  Nanos stale_while_error{0};

  // statistics.*: for WindowStats (window_stats.h)
  Nanos statistics_length = std::chrono::seconds(60);
  Nanos statistics_flush_interval = Millis(100);
  Nanos statistics_hold = std::chrono::seconds(10);
  std::int64_t statistics_maximum_names = 1000;

  // admin.*
  std::string admin_listen = "off";
  std::string admin_token, admin_token_file;

  // report.*
  bool report_enabled = false;
  Nanos report_interval = std::chrono::seconds(60);

  void describe(OptionSet& set);
  // Checks what the bounds of single options cannot check. The error names the options.
  Status check() const;
  const ClientOptions& checked() const;  // these options; throws std::invalid_argument instead

  // All or nothing: the error lists every fault that was found, one per line.
  static Result<ClientOptions> from_yaml(std::string_view text, std::string_view name = "yaml");
  static Result<ClientOptions> from_file(const std::string& path);
  // "HEATSINK_DETECTION_HOT_QPS=500" sets detection.hot-qps. A variable that begins with HEATSINK_
  // and the name of a group but names no option is an error. `environment` is like ::environ.
  static Result<ClientOptions> from_environment(const char* const* environment);
  static Result<ClientOptions> from_environment();

  // The same, starting from these options; `with` sets one ("detection.hot-qps", "500").
  Result<ClientOptions> with(std::string_view name, std::string_view value) const;
  Result<ClientOptions> with_yaml(std::string_view text, std::string_view name) const;
  Result<ClientOptions> with_file(const std::string& path) const;
  Result<ClientOptions> with_environment(const char* const* environment) const;
  Result<ClientOptions> with_environment() const;

 private:
  Status check_admin() const;
  Status check_server() const;
  Status check_fleet() const;
};

}  // namespace heatsink::client
