// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/routes.h"

#include <algorithm>
#include <array>

#include "heatsink/admin/bearer.h"
#include "heatsink/admin/events_json.h"
#include "heatsink/admin/host_header.h"
#include "heatsink/admin/metrics_text.h"

namespace heatsink::admin {
namespace {

std::string path_list();

Answer get_index(const Sources&, Now) { return {200, "heatsink admin API\n\n" + path_list()}; }

Answer get_health(const Sources& sources, Now) {
  const Status ready = sources.ready();
  if (ready.ok()) return {200, "ok\n"};
  return {503, ready.error().message + "\n"};
}

Answer get_metrics(const Sources& sources, Now) {
  return {200, metrics_text(sources.metrics()), kMetricsContentType};
}

Answer get_hotkeys(const Sources& sources, Now now) {
  const detect::Report report = sources.report();
  const WallTime wall_at =
      now.wall - std::chrono::duration_cast<WallTime::duration>(now.boot - report.at);
  return {200, hotkeys_json(report, wall_at), "application/json"};
}

Answer get_events(const Sources& sources, Now now) {
  return {200, events_json(sources.events(), now.boot, now.wall), "application/json"};
}

struct Route {
  std::string_view path;
  std::string_view help;
  Answer (*get)(const Sources&, Now);
};

constexpr std::array<Route, 5> kRoutes{{
    {"/", "this list", get_index},
    {"/healthz", "200 \"ok\", or 503 and the reason", get_health},
    {"/metrics", "Prometheus text format", get_metrics},
    {"/api/hotkeys", "the hot keys with their evidence, and the node's totals, as JSON",
     get_hotkeys},
    {"/api/events", "what became hot, and what ceased to be, as JSON", get_events},
}};

std::string path_list() {
  std::string out;
  for (const Route& route : kRoutes) {
    out += std::string(route.path) + std::string(16 - route.path.size(), ' ') +
           std::string(route.help) + "\n";
  }
  return out;
}

}  // namespace

Answer answer(const Request& request, const Sources& sources, Now now, std::string_view token) {
  if (!token.empty() && !bears_token(request.authorization, token)) {
    return {401,
            "this needs the token of admin.token: send the header \"Authorization: Bearer TOKEN\", "
            "or give its file to heatsink top --token-file\n"};
  }
  if (!request.host && !request.host_optional) return {400, "the Host header is missing\n"};
  // What a web page makes a browser ask bears no token: any name will do then.
  if (token.empty() && request.host && !is_trusted_host(*request.host)) {
    return {403,
            "the Host header must be localhost or an IP address: use http://127.0.0.1 or "
            "http://localhost\n"};
  }
  const std::string_view path = request.target.substr(0, request.target.find('?'));
  const auto route = std::find_if(kRoutes.begin(), kRoutes.end(),
                                  [&](const Route& candidate) { return candidate.path == path; });
  if (route == kRoutes.end()) return {404, "nothing here; there is:\n\n" + path_list()};
  if (request.method != "GET" && request.method != "HEAD") {
    return {405, "only " + std::string(kAllowedMethods) +
                     " here: nothing can be changed through this API\n"};
  }
  return route->get(sources, now);
}

}  // namespace heatsink::admin
