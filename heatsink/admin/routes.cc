// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/routes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "heatsink/admin/bearer.h"
#include "heatsink/admin/events_json.h"
#include "heatsink/admin/host_header.h"
#include "heatsink/admin/key_json.h"
#include "heatsink/admin/metrics_text.h"
#include "heatsink/admin/query.h"
#include "heatsink/admin/warm_json.h"
#include "heatsink/base/units.h"

namespace heatsink::admin {
namespace {

struct Asked {
  Now now;
  std::string_view query;  // what follows the "?"
};

std::string path_list();

const Answer kNotHere{404, "this process does not offer this path\n"};

Answer get_index(const Sources&, const Asked&) {
  return {200, "heatsink admin API\n\n" + path_list()};
}

Answer get_health(const Sources& sources, const Asked&) {
  const Status ready = sources.ready();
  if (ready.ok()) return {200, "ok\n"};
  return {503, ready.error().message + "\n"};
}

Answer get_metrics(const Sources& sources, const Asked&) {
  return {200, sources.metrics(), kMetricsContentType};
}

Answer get_hotkeys(const Sources& sources, const Asked& asked) {
  const report::Report report = sources.report();
  const WallTime wall_at =
      asked.now.wall - std::chrono::duration_cast<WallTime::duration>(asked.now.boot - report.at);
  return {200, hotkeys_json(report, wall_at), "application/json"};
}

Answer get_events(const Sources& sources, const Asked& asked) {
  return {200, events_json(sources.events(), asked.now.boot, asked.now.wall), "application/json"};
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> db_in(const std::string& text) {
  constexpr std::uint64_t kDbMax = INT32_MAX;  // more no server has
  const std::optional<std::uint64_t> db = number_in(text);
  if (!db || *db > kDbMax) return std::nullopt;
  return static_cast<std::uint32_t>(*db);
}

Answer get_key(const Sources& sources, const Asked& asked) {
  if (!sources.key) return kNotHere;
  const std::optional<std::string> name = query_value(asked.query, "name");
  if (!name)
    return {400,
            "the parameter name is missing: /api/key?name=NAME&db=0 (write other bytes as %XX)\n"};
  const std::optional<std::uint32_t> db = db_in(query_value(asked.query, "db").value_or("0"));
  if (!db) return {400, "db must be the number of a database, as in db=0\n"};
  const report::KeyInspection told = sources.key(*name, *db);
  if (told.report.keys.empty()) return {503, told.problem + "\n"};
  const TimePoint boot = asked.now.boot;
  return {200, key_json(told, boot, asked.now.wall), "application/json"};
}

unsigned status_of(ErrorCode code) {
  return code == ErrorCode::kNotFound || code == ErrorCode::kInvalidArgument ? 404 : 503;
}

Answer get_statistic(const Sources& sources, const Asked& asked) {
  if (!sources.statistic) return kNotHere;
  const std::optional<std::string> key = query_value(asked.query, "key");
  if (!key) return {400, "the parameter key is missing: /api/stats?key=NAME&window=60s\n"};
  const Result<Nanos> window = parse_duration(query_value(asked.query, "window").value_or("60s"));
  if (!window.ok()) return {400, "window: " + window.error().message + "\n"};
  if (*window <= Nanos(0)) return {400, "window must be longer than 0\n"};
  Result<std::string> json = sources.statistic(*key, *window);
  if (!json.ok()) return {status_of(json.error().code), json.error().message + "\n"};
  return {200, std::move(json).value(), "application/json"};
}

Answer told(const report::WarmReport& report, Now now) {
  const WallTime wall_at =
      now.wall - std::chrono::duration_cast<WallTime::duration>(now.boot - report.at);
  return {200, warm_json(report, wall_at), "application/json"};
}

Answer get_warm(const Sources& sources, const Asked& asked) {
  if (!sources.warmed) return kNotHere;
  const std::optional<std::string> text = query_value(asked.query, "search");
  const std::optional<std::uint64_t> search = text ? number_in(*text) : 0;
  if (!search) return {400, "search must be the number of a search, from the answer to its POST\n"};
  return told(sources.warmed(*search), asked.now);
}

Answer order(const Request& request, const Sources& sources, Now now, bool ends) {
  if (!sources.warm) return kNotHere;
  Result<report::WarmOrder> order = parse_warm_order(request.body, ends);
  if (!order.ok()) return {400, order.error().message + "\n"};
  return told(sources.warm(*std::move(order)), now);
}

Answer post_warm(const Request& request, const Sources& sources, Now now) {
  return order(request, sources, now, false);
}

Answer post_warm_end(const Request& request, const Sources& sources, Now now) {
  return order(request, sources, now, true);
}

struct Route {
  std::string_view path;
  std::string_view help;
  Pace pace;
  Answer (*get)(const Sources&, const Asked&);
  Answer (*post)(const Request&, const Sources&, Now) = nullptr;
};

constexpr std::array<Route, 9> kRoutes{{
    {"/", "this list", Pace::kAtOnce, get_index},
    {"/healthz", "200 \"ok\", or 503 and the reason", Pace::kHealth, get_health},
    {"/metrics", "Prometheus text format", Pace::kMetrics, get_metrics},
    {"/api/hotkeys", "the hot keys with their evidence, and totals of the node, as JSON",
     Pace::kSlow, get_hotkeys},
    {"/api/key", "what is known of one key, as JSON: ?name=NAME&db=0", Pace::kSlow, get_key},
    {"/api/events", "keys that became hot or stopped being hot, as JSON", Pace::kSlow, get_events},
    {"/api/stats", "a window statistic, as JSON: ?key=NAME&window=60s", Pace::kSlow, get_statistic},
    {"/api/warm", "the warmed keys, as JSON; POST: warm keys", Pace::kSlow, get_warm, post_warm},
    {"/api/warm/end", "the warmed keys, as JSON; POST: stop warming keys", Pace::kSlow, get_warm,
     post_warm_end},
}};

std::string path_list() {
  std::string out;
  for (const Route& route : kRoutes) {
    out += std::string(route.path) + std::string(16 - route.path.size(), ' ') +
           std::string(route.help) + "\n";
  }
  return out;
}

const Route* route_of(const Request& request) {
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  const auto* const route =
      std::find_if(kRoutes.begin(), kRoutes.end(),
                   [&](const Route& candidate) { return candidate.path == path; });
  return route == kRoutes.end() ? nullptr : route;
}

Answer wrong_method(const Route& route) {
  const std::string_view allowed = route.post != nullptr ? kAllowedToOrder : kAllowedMethods;
  Answer answer{405, "the method must be " + std::string(allowed) + "\n"};
  answer.allowed = allowed;
  return answer;
}

}  // namespace

std::optional<Answer> refusal(const Request& request, std::string_view token) {
  if (!token.empty() && !bears_token(request.authorization, token)) {
    return Answer{401,
                  "the token of admin.token is missing or wrong: send the header \"Authorization: "
                  "Bearer TOKEN\", or use heatsink top --token-file FILE\n"};
  }
  if (!request.host && !request.host_optional) return Answer{400, "the Host header is missing\n"};
  // What a web page makes a browser ask bears no token: any name will do then.
  if (token.empty() && request.host && !is_trusted_host(*request.host)) {
    return Answer{403,
                  "the Host header must be localhost or an IP address: use http://127.0.0.1 or "
                  "http://localhost\n"};
  }
  const Route* const route = route_of(request);
  if (route == nullptr) return Answer{404, "unknown path; these paths exist:\n\n" + path_list()};
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  if (request.method != "POST" || route->post == nullptr) return wrong_method(*route);
  // A web page can make a browser send a POST with a body of another type, without asking first.
  const std::string_view type = request.content_type.value_or("");
  if (type.substr(0, type.find(';')) != "application/json")
    return Answer{415, "send the header \"Content-Type: application/json\"\n"};
  return std::nullopt;
}

Pace pace(const Request& request) { return route_of(request)->pace; }

Answer run(const Request& request, const Sources& sources, Now now) {
  const Route& route = *route_of(request);
  if (request.method == "POST") return route.post(request, sources, now);
  return route.get(sources, {now, query_of(request.target)});
}

Answer answer(const Request& request, const Sources& sources, Now now, std::string_view token) {
  std::optional<Answer> refused = refusal(request, token);
  return refused ? *std::move(refused) : run(request, sources, now);
}

}  // namespace heatsink::admin
