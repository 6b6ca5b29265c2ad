// SPDX-License-Identifier: Apache-2.0
// Makes the functions that deliver messages: to a webhook over HTTP, or to a command.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "heatsink/alerts/bodies.h"
#include "heatsink/alerts/delivery.h"
#include "heatsink/base/result.h"
#include "heatsink/policy/alert_options.h"

namespace heatsink::alerts {

// One attempt to deliver. Blocks its thread until it is over, at most alerts.timeout, and at most
// about 200 ms after `stop` is set, also if a name server is silent. One thread at a time.
using Send =
    std::function<Outcome(const std::vector<Notice>& notices, const std::atomic<bool>& stop)>;
// Makes the letterhead of a message that is sent now.
using MakeHead = std::function<Letterhead()>;

struct Target {
  std::string label;  // "webhook", "command": the label of metrics
  std::string shown;  // "the webhook https://hooks.slack.com/...": without secrets
  Send send;
};

// The targets with a thread of their own, so not the log. Reads alerts.webhook-file,
// alerts.webhook-token-file and alerts.webhook-ca. Errors name the option.
Result<std::vector<Target>> targets_of(const policy::AlertOptions& options, const MakeHead& head);

}  // namespace heatsink::alerts
