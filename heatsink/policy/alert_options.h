// SPDX-License-Identifier: Apache-2.0
// Declares the options under alerts.*: what is worth an alert, and where alerts go.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/option.h"
#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink::policy {

// The words of alerts.on, and of `kind` in messages.
inline constexpr std::array<std::string_view, 7> kAlertKinds = {
    "hot", "extremely-hot", "write-hot", "imbalance", "hit-ratio", "stale", "server-down"};

// In the order of the choices of alerts.webhook-format.
enum class WebhookFormat : std::uint8_t { kJson, kSlack, kAlertmanager };

// Plain values, a part of ProxyOptions.
struct AlertOptions {
  std::string on = "extremely-hot,write-hot,imbalance,hit-ratio,stale,server-down";
  double extremely_hot_qps = 0;  // 0: off
  Share extremely_hot_share{0.25};
  double imbalance = 2;  // busiest node / mean of the nodes
  Share hit_ratio_fall{0.5};
  Nanos server_down_after = std::chrono::seconds(5);
  Nanos resolve_after = std::chrono::seconds(60);
  Nanos repeat_interval = std::chrono::hours(4);
  std::int64_t per_minute = 20;

  bool log = false;
  std::string webhook, webhook_file;  // the URL, or the file that has it
  WebhookFormat webhook_format = WebhookFormat::kJson;
  std::string webhook_token_file;
  std::string webhook_ca;
  std::string command;  // its arguments may be secret, as the URL for curl
  Nanos timeout = std::chrono::seconds(10);
  Nanos retry_for = std::chrono::hours(1);

  bool has_webhook() const { return !webhook.empty() || !webhook_file.empty(); }
  bool has_target() const { return log || has_webhook() || !command.empty(); }
  // "/usr/bin/curl ***": the program, and whether it has arguments.
  std::string shown_command() const;

  void describe(OptionSet& set);
};

// Whether alerts.on has this word. Words that are not in kAlertKinds are faults.
bool alerts_on(const AlertOptions& options, std::string_view kind);

// Sentences, one for each contradiction. Reads no file.
std::vector<std::string> alert_faults(const AlertOptions& options);

// Where a webhook listens: "https://hooks.slack.com/services/T0/B0/x".
struct WebhookUrl {
  bool tls = false;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 0;
  std::string target;  // path and query: "/services/T0/B0/x"

  std::string host_header() const;  // "hooks.slack.com", "[::1]:9093"
  // "https://hooks.slack.com/...": the path of a webhook may be its only secret.
  std::string shown() const;
};
// Errors do not contain the text.
Result<WebhookUrl> parse_webhook_url(std::string_view text);

}  // namespace heatsink::policy
