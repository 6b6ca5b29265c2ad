// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/targets.h"

#include <utility>

#include "heatsink/alerts/run_command.h"
#include "heatsink/alerts/webhook.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"

namespace heatsink::alerts {
namespace {

Error named(const char* option, const Error& error) {
  return {error.code, std::string(option) + ": " + error.message};
}

std::string body_for(policy::WebhookFormat format, const std::vector<Notice>& notices,
                     const Letterhead& head) {
  switch (format) {
    case policy::WebhookFormat::kSlack:
      return slack_body(notices, head);
    case policy::WebhookFormat::kAlertmanager:
      return alertmanager_body(notices, head);
    case policy::WebhookFormat::kJson:
      break;
  }
  return json_body(notices, head);
}

Result<Target> webhook_of(const policy::AlertOptions& options, const MakeHead& head) {
  std::string text = options.webhook;
  if (text.empty()) {
    Result<std::string> read = read_secret_file(options.webhook_file);
    if (!read.ok()) return named("alerts.webhook-file", read.error());
    text = *std::move(read);
  }
  Result<policy::WebhookUrl> url = policy::parse_webhook_url(text);
  if (!url.ok())
    return named(options.webhook.empty() ? "alerts.webhook-file" : "alerts.webhook", url.error());
  std::string token;
  if (!options.webhook_token_file.empty()) {
    Result<std::string> read = read_secret_file(options.webhook_token_file);
    if (!read.ok()) return named("alerts.webhook-token-file", read.error());
    token = *std::move(read);
  }
  const std::string shown = "the webhook " + url->shown();
  Result<std::shared_ptr<Webhook>> webhook =
      Webhook::make({*std::move(url), std::move(token), options.webhook_ca, options.timeout});
  if (!webhook.ok()) return named("alerts.webhook-ca", webhook.error());
  return Target{"webhook", shown,
                [webhook = *std::move(webhook), head, format = options.webhook_format](
                    const std::vector<Notice>& notices, const std::atomic<bool>& stop) {
                  return webhook->post(body_for(format, notices, head()), stop);
                }};
}

Target command_of(const policy::AlertOptions& options, const MakeHead& head) {
  return {"command", "the command " + printable(options.shown_command()),
          [command = options.command, limit = options.timeout, head](
              const std::vector<Notice>& notices, const std::atomic<bool>& stop) {
            return run_command(command, json_body(notices, head()), limit, stop);
          }};
}

}  // namespace

Result<std::vector<Target>> targets_of(const policy::AlertOptions& options, const MakeHead& head) {
  std::vector<Target> out;
  if (options.has_webhook()) {
    Result<Target> webhook = webhook_of(options, head);
    if (!webhook.ok()) return webhook.error();
    out.push_back(*std::move(webhook));
  }
  if (!options.command.empty()) out.push_back(command_of(options, head));
  return out;
}

}  // namespace heatsink::alerts
