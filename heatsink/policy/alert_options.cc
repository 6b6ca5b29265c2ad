// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/alert_options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "heatsink/base/nearest.h"
#include "heatsink/base/printable.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {
namespace {

constexpr double ns_of(Nanos duration) { return static_cast<double>(duration.count()); }

// A target that the admin API could change would let a holder of its token run programs, and send
// the names of keys elsewhere.
OptionRow of_target(OptionRow row) {
  row.needs_restart = true;
  return row;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

bool command_is_hidden(const std::string& command) {
  return command.ends_with(" " + std::string(net::kHiddenPassword));
}

void describe_targets(AlertOptions& to, OptionSet& set) {
  using std::chrono::hours;
  using std::chrono::minutes;
  using std::chrono::seconds;
  set.add(of_target({"alerts.log", &to.log,
                     "Whether alerts are lines of the log, too "
                     "(level warning; error if an alert is critical; info when it is over)."}));
  set.add(of_target(
      {"alerts.webhook", &to.webhook,
       "URL that alerts are sent to by POST, http:// or https://. If the URL is a secret, "
       "as that of Slack, prefer alerts.webhook-file: other users can see command lines."}));
  set.add(of_target(
      {"alerts.webhook-file", &to.webhook_file, "File with the URL of the webhook, on one line."}));
  set.add(of_target({.name = "alerts.webhook-format",
                     .target = choice_of(to.webhook_format),
                     .help = "The body that the webhook takes. json: heatsink's own. "
                             "slack: a text for an incoming webhook of Slack or Mattermost. "
                             "alertmanager: for /api/v2/alerts of Prometheus' Alertmanager.",
                     .choices = {"json", "slack", "alertmanager"}}));
  set.add(of_target(
      {"alerts.webhook-token-file", &to.webhook_token_file,
       "File with a token that the webhook requires (Authorization: Bearer ...), on one line."}));
  set.add(of_target({"alerts.webhook-ca", &to.webhook_ca,
                     "File with the CAs that sign the webhook's certificate (PEM). "
                     "Empty: those of the system."}));
  set.add(of_target({"alerts.command", &to.command,
                     "Program that is run for alerts: "
                     "an absolute path, and perhaps arguments behind it, separated by spaces. "
                     "It gets the body of alerts.webhook-format: json on its standard input. "
                     "There is no shell. Its arguments are not shown."}));
  set.add(of_target({"alerts.timeout", &to.timeout,
                     "Maximum time for one attempt to deliver to the webhook or the command.",
                     ns_of(Millis(100)), ns_of(minutes(1))}));
  set.add(of_target({"alerts.retry-for", &to.retry_for,
                     "How long the proxy tries to deliver an alert, with pauses of 1 s to 1 min. "
                     "After that the alert is dropped (heatsink_alerts_dropped_total).",
                     ns_of(seconds(1)), ns_of(hours(24))}));
}

}  // namespace

void AlertOptions::describe(OptionSet& set) {
  using std::chrono::hours;
  using std::chrono::seconds;
  set.add({"alerts.on", &on,
           "What raises an alert, separated by commas; hot is one more. Alerts need a target: "
           "alerts.webhook, alerts.command or alerts.log (docs/guides/alerts.md)."});
  set.add(
      {"alerts.extremely-hot-qps", &extremely_hot_qps,
       "A hot key with this many requests per second is extremely hot. 0: only the share counts.",
       0, kRateMax});
  set.add({"alerts.extremely-hot-share", &extremely_hot_share,
           "A hot key with this part of the traffic is extremely hot.", 0, 1});
  set.add({"alerts.imbalance", &imbalance,
           "A cluster is out of balance if its busiest node has this many times "
           "the mean load of the nodes, for 1 min.",
           1.1, 100});
  set.add({"alerts.hit-ratio-fall", &hit_ratio_fall,
           "The hit ratio has fallen if this part of its mean of the last hour is gone, for 1 min.",
           0.05, 1});
  set.add({"alerts.server-down-after", &server_down_after,
           "How long the server cannot be reached before that is an alert.", 0,
           ns_of(std::chrono::minutes(10))});
  set.add({"alerts.resolve-after", &resolve_after,
           "An alert is over when its cause has been gone for this long.", ns_of(seconds(1)),
           ns_of(hours(1))});
  set.add({"alerts.repeat-interval", &repeat_interval,
           "An alert that is not over is sent again after this time.", ns_of(seconds(10)),
           ns_of(hours(24 * 7))});
  set.add({"alerts.per-minute", &per_minute,
           "Maximum number of new alerts in a minute. "
           "Others wait, and are not sent if they end meanwhile.",
           1, 1000});
  describe_targets(*this, set);
}

std::string AlertOptions::shown_command() const {
  const std::size_t program = command.find(' ');
  if (program == std::string::npos) return command;
  return command.substr(0, program + 1) + std::string(net::kHiddenPassword);
}

bool alerts_on(const AlertOptions& options, std::string_view kind) {
  const std::vector<std::string_view> words = words_of(options.on);
  return std::find(words.begin(), words.end(), kind) != words.end();
}

std::vector<std::string> alert_faults(const AlertOptions& options) {
  std::vector<std::string> faults;
  const std::vector<std::string> known(kAlertKinds.begin(), kAlertKinds.end());
  for (const std::string_view word : words_of(options.on)) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    const std::string_view meant = nearest(word, known);
    faults.push_back("alerts.on: there is no alert '" + printable(word, 32) + "'" +
                     (meant.empty() ? "" : ": did you mean '" + std::string(meant) + "'?"));
  }
  if (!options.webhook.empty() && !options.webhook_file.empty())
    faults.emplace_back("alerts.webhook and alerts.webhook-file are both set: keep one of them");
  if (options.webhook == net::kHiddenPassword) {
    faults.emplace_back(
        "alerts.webhook is '***', the mark with which 'heatsink config print' hides the URL: "
        "write the URL, or set alerts.webhook-file");
  } else if (!options.webhook.empty()) {
    if (const auto url = parse_webhook_url(options.webhook); !url.ok())
      faults.push_back("alerts.webhook: " + url.error().message);
  }
  if (!options.command.empty() && !options.command.starts_with('/'))
    faults.emplace_back("alerts.command: the program needs an absolute path, as in /usr/bin/page");
  if (command_is_hidden(options.command))
    faults.emplace_back(
        "alerts.command ends with '***', "
        "the mark with which 'heatsink config print' hides its arguments: write the arguments");
  return faults;
}

std::string WebhookUrl::host_header() const {
  const bool is_default = port == (tls ? 443 : 80);
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return is_default ? name : name + ":" + std::to_string(port);
}

std::string WebhookUrl::shown() const {
  return (tls ? "https://" : "http://") + host_header() + (target == "/" ? "/" : "/...");
}

Result<WebhookUrl> parse_webhook_url(std::string_view text) {
  const Error wrong{ErrorCode::kInvalidArgument,
                    "the URL must be http://HOST[:PORT]/PATH or https://HOST[:PORT]/PATH"};
  WebhookUrl url;
  url.tls = text.starts_with("https://");
  if (!url.tls && !text.starts_with("http://")) return wrong;
  text.remove_prefix(url.tls ? 8 : 7);
  const auto is_bad = [](char c) { return c <= ' ' || c > '~'; };
  if (std::any_of(text.begin(), text.end(), is_bad)) return wrong;
  const std::size_t slash = std::min(text.find_first_of("/?#"), text.size());
  std::string_view place = text.substr(0, slash);
  url.target = text.substr(slash, text.find('#', slash) - slash);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  if (place.find('@') != std::string_view::npos)
    return invalid_argument(
        "the URL has a user or a password: set alerts.webhook-token-file instead");
  const std::size_t host_end = place.starts_with('[') ? place.find(']') : place.find(':');
  if (place.starts_with('[') && host_end == std::string_view::npos) return wrong;
  const bool is_bracketed = place.starts_with('[');
  url.host = is_bracketed ? place.substr(1, host_end - 1) : place.substr(0, host_end);
  place.remove_prefix(std::min(host_end + (is_bracketed ? 1 : 0), place.size()));
  url.port = url.tls ? 443 : 80;
  if (!place.empty()) {
    const auto [end, error] =
        std::from_chars(place.data() + 1, place.data() + place.size(), url.port);
    if (place[0] != ':' || error != std::errc() || end != place.data() + place.size() ||
        url.port == 0)
      return wrong;
  }
  if (url.host.empty()) return wrong;
  return url;
}

}  // namespace heatsink::policy
