// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/routes.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/base/version.h"
#include "heatsink/httpd/access.h"
#include "heatsink/httpd/query.h"

namespace heatsink::httpd {
namespace {

constexpr std::size_t kPathColumns = 16;

std::string list_of(const std::vector<Route>& routes) {
  std::string out;
  for (const Route& route : routes) {
    if (route.help.empty()) continue;  // a part of another page
    out += route.path;
    out.append(route.path.size() < kPathColumns ? kPathColumns - route.path.size() : 1, ' ');
    out += std::string(route.help) + "\n";
  }
  return out;
}

Answer wrong_method(const Route& route) {
  const std::string_view allowed = route.post ? kAllowedToOrder : kAllowedMethods;
  Answer answer{405, "the method must be " + std::string(allowed) + "\n"};
  answer.allowed = allowed;
  return answer;
}

}  // namespace

Answer json_answer(std::string body) { return {200, std::move(body), "application/json"}; }

namespace {

Route::Page page_of_status(std::function<Status()> of) {
  return [of = std::move(of)](const Question&) -> Answer {
    const Status status = of();
    if (status.ok()) return {200, "ok\n"};
    return {503, status.error().message + "\n"};
  };
}

}  // namespace

Route health_route(std::function<Status()> ready) {
  return {"/healthz", "200 \"ok\", or 503 and the reason", Pace::kHealth,
          page_of_status(std::move(ready))};
}

Route life_route(std::function<Status()> alive) {
  return {"/livez", "200 \"ok\", or 503 and the thread that is stuck", Pace::kAtOnce,
          page_of_status(std::move(alive))};
}

Route version_route() {
  return {"/api/version", "the version of heatsink, as JSON", Pace::kAtOnce,
          [](const Question&) -> Answer {
            return json_answer("{\"version\":\"" + std::string(version()) + "\"}\n");
          }};
}

Route access_route() {
  return {"/api/access", "what your token allows, as JSON", Pace::kAtOnce,
          [](const Question& asked) -> Answer {
            const Asker nobody;
            const Asker& asker = asked.request.asker == nullptr ? nobody : *asked.request.asker;
            boost::json::object out;
            out["name"] = asker.name.empty() ? nullptr : boost::json::value(printable(asker.name));
            out["role"] = asker.role == Role::kOperator ? "operator" : "viewer";
            out["token"] = asker.has_token;
            return json_answer(boost::json::serialize(out) + "\n");
          }};
}

Route metrics_route(std::function<std::string()> text) {
  return {"/metrics", "Prometheus text format", Pace::kMetrics,
          [text = std::move(text)](const Question&) -> Answer {
            return {200, text(), kMetricsContentType};
          }};
}

RouteTable::RouteTable(std::vector<Route> routes) : routes_(std::move(routes)) {
  if (const auto front = std::ranges::find(routes_, "/", &Route::path); front != routes_.end()) {
    front_ = std::move(*front);
    routes_.erase(front);
  }
  routes_.insert(routes_.begin(), Route{"/", "this list", Pace::kAtOnce, nullptr});
  list_ = list_of(routes_);
  routes_.front().get = [text = "heatsink admin API\n\n" + list_](const Question&) -> Answer {
    return {200, text};
  };
}

const Route* RouteTable::find(const Request& request) const {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  const bool is_browser = request.accept.value_or("").find("text/html") != std::string_view::npos;
  if (path == "/" && front_ && is_browser) return &*front_;
  const auto route = std::ranges::find(routes_, path, &Route::path);
  return route == routes_.end() ? nullptr : &*route;
}

std::optional<Answer> RouteTable::refusal(const Request& request, const Tokens& tokens) const {
  const Route* const route = find(request);
  const bool is_open = route != nullptr && route->is_open;
  const Bearer* const bearer = tokens.find(request.authorization);
  if (!tokens.empty() && !is_open && bearer == nullptr) {
    return Answer{401,
                  "the token of admin.token is missing or wrong: send the header \"Authorization: "
                  "Bearer TOKEN\", or use heatsink top --token-file FILE\n"};
  }
  const bool looks = request.method == "GET" || request.method == "HEAD";
  if (bearer != nullptr && bearer->role == Role::kViewer && !looks) {
    return Answer{403, "the token of " + bearer->name +
                           " is a viewer's: it may look, and an order needs an operator's token\n"};
  }
  if (!request.host && !request.host_optional) return Answer{400, "the Host header is missing\n"};
  // Requests that a web page causes carry no token. With a token, any host name is fine.
  if (tokens.empty() && request.host && !is_trusted_host(*request.host)) {
    return Answer{403,
                  "the Host header must be localhost or an IP address: "
                  "use http://127.0.0.1 or http://localhost\n"};
  }
  if (route == nullptr) return Answer{404, "unknown path; these paths exist:\n\n" + list_};
  if (looks) return std::nullopt;
  if (request.method != "POST" || !route->post) return wrong_method(*route);
  // A web page can make a browser send a POST with a body of another type without a preflight.
  const std::string_view type = request.content_type.value_or("");
  if (type.substr(0, type.find(';')) != "application/json")
    return Answer{415, "send the header \"Content-Type: application/json\"\n"};
  return std::nullopt;
}

bool RouteTable::is_stream(const Request& request) const {
  return request.method == "GET" && find(request)->events != nullptr;
}

std::shared_ptr<const EventSource> RouteTable::events() const {
  for (const Route& route : routes_)
    if (route.events != nullptr) return route.events;
  return nullptr;
}

Pace RouteTable::pace(const Request& request) const {
  const Route& route = *find(request);
  const bool is_slow = !route.slow_with.empty() &&
                       query_value(query_of(request.target), route.slow_with).has_value();
  return is_slow ? Pace::kSlow : route.pace;
}

Answer RouteTable::run(const Request& request, Now now) const {
  const Route& route = *find(request);
  const Question question{request, query_of(request.target), now};
  return request.method == "POST" ? route.post(question) : route.get(question);
}

Answer RouteTable::run_shared(Pace pace, Now now) const {
  const auto route = std::ranges::find(routes_, pace, &Route::pace);
  return route->get({Request{"GET", route->path, std::nullopt}, "", now});
}

Answer RouteTable::answer(const Request& request, Now now, const Tokens& tokens) const {
  std::optional<Answer> refused = refusal(request, tokens);
  return refused ? *std::move(refused) : run(request, now);
}

}  // namespace heatsink::httpd
