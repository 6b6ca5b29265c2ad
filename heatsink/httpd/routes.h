// SPDX-License-Identifier: Apache-2.0
// Defines the pages of an HTTP server, and chooses the answer of a request. No socket, no clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/httpd/event_source.h"
#include "heatsink/httpd/tokens.h"

namespace heatsink::httpd {

// Who asks, as their token says.
struct Asker {
  std::string who{};   // for the log: "127.0.0.1:54321", "alice, 127.0.0.1:54321"
  std::string name{};  // "": the token has none, or there is none
  Role role = Role::kOperator;
  bool has_token = false;  // false: no token is required
};

struct Request {
  std::string_view method;               // "GET", as sent
  std::string_view target;               // path, and perhaps "?query"
  std::optional<std::string_view> host;  // none: no Host header; "": several, or an empty one
  bool host_optional = false;            // HTTP/1.0, which browsers do not use
  std::optional<std::string_view> authorization = std::nullopt;  // as `host`
  std::optional<std::string_view> content_type = std::nullopt;   // as `host`
  std::string_view body = "";
  std::string_view peer = "";  // who asks: "127.0.0.1:54321", "alice, 127.0.0.1:54321"
  std::optional<std::string_view> accept = std::nullopt;         // as `host`
  std::optional<std::string_view> last_event_id = std::nullopt;  // as `host`
  const Asker* asker = nullptr;  // null: not known; valid as the views are
};

struct Answer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::string_view allowed = "";  // for a 405: the allowed methods
};
Answer json_answer(std::string body);

inline constexpr std::string_view kAllowedMethods = "GET, HEAD";
inline constexpr std::string_view kAllowedToOrder = "GET, HEAD, POST";
inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// The same moment on both clocks.
struct Now {
  TimePoint boot;
  WallTime wall;

  // The wall clock at `moment`, relative to now: a stepped wall clock changes no age.
  WallTime wall_at(TimePoint moment) const {
    return wall - std::chrono::duration_cast<WallTime::duration>(boot - moment);
  }
};

// The request as the page's function gets it. Views are valid during the call.
struct Question {
  const Request& request;
  std::string_view query;  // of the target: the part after the "?"
  Now now;
};

// The thread that makes an answer. A slow page must not delay /healthz.
enum class Pace {
  kAtOnce,  // the thread of the connections: the answer needs no function
  kHealth,  // the thread of the status pages; simultaneous requests share an answer
  kMetrics,
  kSlow,  // the other thread: the answer may ask a server
};

// `get` also answers HEAD. Both functions run on the server's threads, never twice at the same time
// for one pace. They must not throw.
struct Route {
  using Page = std::function<Answer(const Question&)>;

  std::string_view path;  // "/api/hotkeys"
  std::string_view help;  // one line for the list of paths; "": it is not listed
  Pace pace = Pace::kSlow;
  Page get;
  Page post = nullptr;  // null: 405
  // Needs no token: it has no data, as the files of a web page, which a browser asks for before a
  // person can give it a token.
  bool is_open = false;
  // Not "": a request whose query has this parameter is answered at Pace::kSlow, whatever `pace`
  // is: shared answers have no query.
  std::string_view slow_with = "";
  // Not null: GET is answered by a stream of these events, and `get` is for HEAD. At most one
  // route.
  std::shared_ptr<const EventSource> events = nullptr;
};

// /healthz: 200 "ok", or 503 with the message of the error.
Route health_route(std::function<Status()> ready);
// /livez: the same for threads that work. At once, on the thread of the connections, so that it
// answers while all pages wait: `alive` must not wait, and must be thread-safe.
Route life_route(std::function<Status()> alive);
// /api/version: {"version":"1.2.3"}.
Route version_route();
// /api/access: who asks, and whether they may give orders, for pages that show buttons.
Route access_route();
// /metrics: `text` is in Prometheus' format.
Route metrics_route(std::function<std::string()> text);

// The pages of one server, with "/", which lists them. A route "/" of the caller is what browsers
// get instead: requests whose Accept header names text/html. Immutable; as thread-safe as the
// routes' functions.
class RouteTable {
 public:
  explicit RouteTable(std::vector<Route> routes);

  // The answer to a request without a valid token, for an unknown page, or for a wrong method.
  // Nothing: run() has the answer, at its pace. One of `tokens` is required of each request,
  // whatever its path, and an operator's for all but GET and HEAD; if they are empty, none is
  // required.
  std::optional<Answer> refusal(const Request& request, const Tokens& tokens) const;
  // Whether the answer is the stream of events. REQUIRES no refusal.
  bool is_stream(const Request& request) const;
  std::shared_ptr<const EventSource> events() const;  // null: no route has them
  Pace pace(const Request& request) const;            // REQUIRES no refusal
  Answer run(const Request& request, Now now) const;  // REQUIRES no refusal

  // refusal() or run(). HEAD gets the answer of GET; the sender leaves out the body.
  Answer answer(const Request& request, Now now, const Tokens& tokens = {}) const;

  // The answer of the page with this pace, for requests that share an answer. REQUIRES such a page.
  Answer run_shared(Pace pace, Now now) const;

 private:
  const Route* find(const Request& request) const;

  std::optional<Route> front_;  // for browsers
  std::vector<Route> routes_;
  std::string list_;  // a line for each path
};

}  // namespace heatsink::httpd
