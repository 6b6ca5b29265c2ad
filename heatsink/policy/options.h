// SPDX-License-Identifier: Apache-2.0
// Declares all options of `heatsink proxy` with their defaults; the rows are in options.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "heatsink/base/log.h"
#include "heatsink/base/option.h"
#include "heatsink/base/units.h"
#include "heatsink/net/tls_context.h"
#include "heatsink/policy/alert_options.h"
#include "heatsink/policy/rule_options.h"
#include "heatsink/policy/warm_options.h"

namespace heatsink::policy {

// The words of these options, in the order of their rows' choices.
enum class PresentAs : std::uint8_t { kServer, kCluster };
enum class HotChannelFor : std::uint8_t { kProxysUser, kAll, kOff };
enum class ClientTracking : std::uint8_t { kOff, kPays };
enum class CrossSlot : std::uint8_t { kSplit, kRefuse };
enum class OnDown : std::uint8_t { kClose, kError };
enum class RedactKeys : std::uint8_t { kOff, kHash };

// Plain values. describe() adds the option rows, which point into this object.
struct ProxyOptions {
  // proxy.*
  std::string listen = "127.0.0.1:6380";
  std::string unix_mode = "600";
  PresentAs present_as = PresentAs::kServer;
  std::string announce_address;    // "": the address that the client came to
  std::string announce_addresses;  // "": this proxy alone
  static constexpr std::int64_t kWorkersMax = 64;
  HotChannelFor hot_channel = HotChannelFor::kProxysUser;
  ClientTracking client_tracking = ClientTracking::kOff;
  std::int64_t workers = 0;  // 0: one per core, up to kWorkersMax
  std::int64_t clients_max = 10'000;
  std::int64_t connection_rate = 0;              // per second; 0: no limit
  std::int64_t connection_rate_per_network = 0;  // as connection_rate, for each network
  std::string tls_cert, tls_key, tls_ca;
  net::ClientAuth tls_client_auth = net::ClientAuth::kOff;
  Nanos tls_handshake_timeout = std::chrono::seconds(10);
  std::int64_t tls_handshakes_max = 1000;
  Bytes client_output_max = mebibytes(64);
  Bytes maximum_memory{0};  // 0: a share of the machine's memory
  Nanos slow_client_timeout = std::chrono::seconds(60);
  std::int64_t pipeline_max = 1024;
  Bytes stream_threshold = mebibytes(1);
  std::int64_t private_connections_max = 10'000;
  std::int64_t private_connections_idle = 16;

  // shutdown.*
  Nanos shutdown_drain = std::chrono::seconds(10);  // 0: clients are cut at once

  // upstream.*
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

  // log.*
  LogLevel log_level = LogLevel::kInfo;
  std::string log_file;  // "": stderr
  LogFormat log_format = LogFormat::kText;

  // admin.*
  std::string admin = "127.0.0.1:6390";
  std::string admin_token;
  std::string admin_token_file;
  std::int64_t metrics_keys = 20;

  // history.*
  std::string history_file;  // "": none
  Bytes history_size = mebibytes(256);
  Nanos history_age = std::chrono::hours(90 * 24);

  // doctor.*
  bool doctor_enabled = true;

  // privacy.*
  RedactKeys redact_keys = RedactKeys::kOff;
  std::string redact_secret_file;

  // detection.*
  bool detection_enabled = true;
  Nanos window = std::chrono::seconds(10);
  std::int64_t slots = 10;
  detect::Dimension dimension = detect::Dimension::kRequests;
  std::optional<double> hot_qps, warm_qps;  // nothing: automatic (detect::set_thresholds())
  Bytes hot_bytes = mebibytes(50);          // per second
  Bytes warm_bytes = mebibytes(10);
  Share hot_share;
  std::int64_t top_n = 1000;
  std::int64_t confirm_windows = 1;
  double demote_ratio = 0.8;
  double write_hot_ratio = 10;
  Nanos minimum_residence = std::chrono::seconds(10);
  Nanos promotion_interval{0};
  Nanos demotion_interval{0};
  Share burst{0.25};
  Bytes detection_memory = Bytes{2'500'000};
  Nanos tick = Millis(100);
  std::int64_t fleet_size = 1;

  // fleet.*
  bool fleet_enabled = false;
  std::string fleet_name = "default";
  Nanos fleet_interval = Millis(250);
  std::int64_t fleet_shards = 1;

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

  // limits.*
  std::int64_t limits_keys = 4096;
  std::int64_t limits_waiting = 10'000;
  Nanos refusal_delay = Millis(10);  // 0: none
  double automatic_qps = 0;          // 0: off

  AlertOptions alerts;  // alerts.*

  std::deque<RuleOptions> rules;
  std::deque<WarmingOptions> warming;

  void describe(OptionSet& set);

 private:
  void describe_outages(OptionSet& set);    // outage_options.cc
  void describe_detection(OptionSet& set);  // detection_options.cc
  void describe_admin(OptionSet& set);      // admin_options.cc
  void describe_history(OptionSet& set);    // history_options.cc
};

}  // namespace heatsink::policy
