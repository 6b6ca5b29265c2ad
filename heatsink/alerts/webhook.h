// SPDX-License-Identifier: Apache-2.0
// Posts a body to a webhook over HTTP/1.1, with TLS or without. Internal to the room.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/alerts/delivery.h"
#include "heatsink/base/result.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/alert_options.h"

namespace heatsink::alerts {

using Addresses = Result<std::vector<net::ResolvedAddress>>;

struct WebhookOptions {
  policy::WebhookUrl url;
  std::string token = {};    // Authorization: Bearer; "": none
  std::string ca_file = {};  // "": the authorities of the system
  Nanos timeout = std::chrono::seconds(10);
  std::function<Addresses(const net::HostPort&)> look_up = net::resolve;  // may block for minutes
};

// One thread at a time. A connection for each post: alerts are rare.
class Webhook {
 public:
  // Error: the file of authorities cannot be read.
  static Result<std::shared_ptr<Webhook>> make(WebhookOptions options);
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  // Blocks for at most the timeout, which covers the look-up of the name, too, and for about 100 ms
  // after `stop` is set. A look-up that takes longer goes on in a thread of its own, also beyond
  // this object; there is at most one, and the next post waits for the same. A status of 2xx is
  // success; 408, 429 and 5xx may be tried again, others not: a redirect would take the body to a
  // place that nobody has named.
  Outcome post(const std::string& body, const std::atomic<bool>& stop);

 private:
  struct Tls;
  Webhook(WebhookOptions options, std::unique_ptr<Tls> tls);
  Addresses resolve(TimePoint until, const std::atomic<bool>& stop);

  WebhookOptions options_;
  const std::unique_ptr<Tls> tls_;  // null: plain HTTP
  std::future<Addresses> looking_up_;
};

}  // namespace heatsink::alerts
