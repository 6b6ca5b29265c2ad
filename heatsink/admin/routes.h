// SPDX-License-Identifier: Apache-2.0
// Which answer a request gets. No socket, no clock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/admin/hotkeys_json.h"
#include "heatsink/base/metric.h"
#include "heatsink/base/result.h"
#include "heatsink/detect/event.h"
#include "heatsink/detect/report.h"

namespace heatsink::admin {

// Where the answers come from. Called on the admin thread, one at a time, while a request waits:
// each must be safe to call beside the threads of the proxy. REQUIRES all set; none throws.
struct Sources {
  std::function<detect::Report()> report;
  std::function<MetricSamples()> metrics;
  std::function<std::vector<detect::Event>()> events;  // oldest first
  std::function<Status()> ready;  // an error's message is the reason that /healthz gives
};

struct Request {
  std::string_view method;               // "GET", as sent
  std::string_view target;               // path, and perhaps "?query", which is ignored
  std::optional<std::string_view> host;  // none: no Host header; "": several, or an empty one
  bool host_optional = false;            // HTTP/1.0, which browsers do not speak
  std::optional<std::string_view> authorization = std::nullopt;  // as `host`
};

struct Answer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

inline constexpr std::string_view kAllowedMethods = "GET, HEAD";

// One moment on both clocks.
struct Now {
  TimePoint boot;
  WallTime wall;
};

// HEAD gets what GET would; whoever sends the answer leaves the body out.
// `token`: what a request must bear, whatever its path; "": none is asked for.
Answer answer(const Request& request, const Sources& sources, Now now, std::string_view token = "");

}  // namespace heatsink::admin
