// SPDX-License-Identifier: Apache-2.0
// Declares all options of `heatsink proxy` with their defaults.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "heatsink/base/log.h"
#include "heatsink/base/option.h"
#include "heatsink/base/units.h"
#include "heatsink/net/tls_context.h"
#include "heatsink/policy/alert_options.h"
#include "heatsink/policy/copy_options.h"
#include "heatsink/policy/detection_options.h"
#include "heatsink/policy/rule_options.h"
#include "heatsink/policy/upstream_options.h"
#include "heatsink/policy/warm_options.h"

namespace heatsink::policy {

// The words of these options, in the order of their rows' choices.
enum class PresentAs : std::uint8_t { kServer, kCluster };
enum class HotChannelFor : std::uint8_t { kProxysUser, kAll, kOff };
enum class RedactKeys : std::uint8_t { kOff, kHash };

// Plain values. describe() adds the option rows, which point into this object. Three groups are
// bases, so that each has its fields and rows in files of its own, and yet a short name.
struct ProxyOptions : UpstreamOptions, DetectionOptions, CopyOptions {
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

  // fleet.*
  bool fleet_enabled = false;
  std::string fleet_name = "default";
  Nanos fleet_interval = Millis(250);
  std::int64_t fleet_shards = 1;

  // limits.*
  std::int64_t limits_keys = 4096;
  std::int64_t limits_waiting = 10'000;
  Nanos refusal_delay = Millis(10);  // 0: none
  double automatic_qps = 0;          // 0: off

  AlertOptions alerts;  // alerts.*

  std::deque<RuleOptions> rules;
  std::deque<WarmingOptions> warming;

  void describe(OptionSet& set);
};

}  // namespace heatsink::policy
