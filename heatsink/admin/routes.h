// SPDX-License-Identifier: Apache-2.0
// Which answer a request gets. No socket, no clock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/admin/hotkeys_json.h"
#include "heatsink/base/result.h"
#include "heatsink/report/event.h"
#include "heatsink/report/inspection.h"
#include "heatsink/report/node_report.h"
#include "heatsink/report/warming.h"

namespace heatsink::admin {

// Where the answers come from. Called while a request waits: `ready` and `metrics` by one thread of
// the server, all others by a second one, so each must be safe to call beside all other threads,
// but none is called twice at the same time. None throws. What is not set is not there:
// its pages answer 404. REQUIRES report, metrics, events and ready.
struct Sources {
  std::function<report::Report()> report;
  std::function<std::string()> metrics;                // as kMetricsContentType says
  std::function<std::vector<report::Event>()> events;  // oldest first
  // JSON of a window statistic (heatsink stats), over the last so long. kNotFound: there is none.
  // It may ask a server.
  std::function<Result<std::string>(const std::string& name, Nanos window)> statistic;
  std::function<report::WarmReport(report::WarmOrder)> warm;
  // Of one search, by its number; 0: everything.
  std::function<report::WarmReport(std::uint64_t search)> warmed;
  // All that is known of a key, after asking the server about its value: it may take two seconds.
  std::function<report::KeyInspection(std::string name, std::uint32_t db)> key;
  std::function<Status()> ready;  // an error's message is the reason that /healthz gives
};

struct Request {
  std::string_view method;               // "GET", as sent
  std::string_view target;               // path, and perhaps "?query"
  std::optional<std::string_view> host;  // none: no Host header; "": several, or an empty one
  bool host_optional = false;            // HTTP/1.0, which browsers do not speak
  std::optional<std::string_view> authorization = std::nullopt;  // as `host`
  std::optional<std::string_view> content_type = std::nullopt;   // likewise
  std::string_view body = "";
};

struct Answer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::string_view allowed = "";  // of a 405: the methods
};

inline constexpr std::string_view kAllowedMethods = "GET, HEAD";
inline constexpr std::string_view kAllowedToOrder = "GET, HEAD, POST";

// One moment on both clocks.
struct Now {
  TimePoint boot;
  WallTime wall;
};

// Who makes the answer. What may take a while must not hold up those who ask for /healthz.
enum class Pace {
  kAtOnce,  // nobody is asked
  kHealth,
  kMetrics,
  kSlow,  // may ask a server
};

// The answer of a request that gets no other: it may not ask, there is no such page, or it cannot
// be asked so. None: run() has the answer, at that pace.
std::optional<Answer> refusal(const Request& request, std::string_view token);
Pace pace(const Request& request);                                    // REQUIRES no refusal
Answer run(const Request& request, const Sources& sources, Now now);  // likewise

// HEAD gets what GET would; whoever sends the answer leaves the body out.
// `token`: what a request must bear, whatever its path; "": none is asked for.
Answer answer(const Request& request, const Sources& sources, Now now, std::string_view token = "");

}  // namespace heatsink::admin
