// SPDX-License-Identifier: Apache-2.0
// The pages that an HTTP server offers, and which answer a request gets. No socket, no clock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"

namespace heatsink::httpd {

struct Request {
  std::string_view method;               // "GET", as sent
  std::string_view target;               // path, and perhaps "?query"
  std::optional<std::string_view> host;  // none: no Host header; "": several, or an empty one
  bool host_optional = false;            // HTTP/1.0, which browsers do not speak
  std::optional<std::string_view> authorization = std::nullopt;  // as `host`
  std::optional<std::string_view> content_type = std::nullopt;   // as `host`
  std::string_view body = "";
};

struct Answer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::string_view allowed = "";  // of a 405: the methods
};
Answer json_answer(std::string body);

inline constexpr std::string_view kAllowedMethods = "GET, HEAD";
inline constexpr std::string_view kAllowedToOrder = "GET, HEAD, POST";
inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// One moment on both clocks.
struct Now {
  TimePoint boot;
  WallTime wall;

  // The wall clock at a moment of the boot clock: a stepped wall clock changes no age.
  WallTime wall_at(TimePoint moment) const {
    return wall - std::chrono::duration_cast<WallTime::duration>(boot - moment);
  }
};

// A request as the function of its page gets it. Views: valid during the call.
struct Question {
  const Request& request;
  std::string_view query;  // of the target: what follows the "?"
  Now now;
};

// Which thread makes an answer. A slow page must not hold up /healthz.
enum class Pace {
  kAtOnce,  // the thread of the connections: the answer needs no source
  kHealth,  // the thread of the status pages; requests at the same time share an answer
  kMetrics,
  kSlow,  // the other thread: the answer may ask a server
};

// `get` also answers HEAD. Both functions may be called on another thread than the server's, but
// never twice at the same time for one pace. They do not throw.
struct Route {
  using Page = std::function<Answer(const Question&)>;

  std::string_view path;  // "/api/hotkeys"
  std::string_view help;  // one line for the list of paths
  Pace pace = Pace::kSlow;
  Page get;
  Page post = nullptr;  // none: 405
};

// /healthz: 200 "ok", or 503 with the message of the error.
Route health_route(std::function<Status()> ready);
// /metrics: `text` is in the format that Prometheus scrapes.
Route metrics_route(std::function<std::string()> text);

// The pages of one server, with "/", which lists them. Immutable; thread-safe as far as the
// functions of the routes are.
class RouteTable {
 public:
  explicit RouteTable(std::vector<Route> routes);

  // The answer of a request that gets no other: it lacks the token, there is no such page, or the
  // page does not take this method. None: run() has the answer, at that pace. `token`: what a
  // request must bear, whatever its path; "": no request needs one.
  std::optional<Answer> refusal(const Request& request, std::string_view token) const;
  Pace pace(const Request& request) const;            // REQUIRES no refusal
  Answer run(const Request& request, Now now) const;  // REQUIRES no refusal

  // All of it. HEAD gets what GET would; the sender of the answer leaves the body out.
  Answer answer(const Request& request, Now now, std::string_view token = "") const;

  // The answer of the page with this pace, REQUIRES one; for those that share an answer.
  Answer run_shared(Pace pace, Now now) const;

 private:
  const Route* find(const Request& request) const;

  std::vector<Route> routes_;
  std::string list_;  // a line for each path
};

}  // namespace heatsink::httpd
