// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/pages.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/heatsink/watch/instances_json.h"
#include "apps/heatsink/watch/pass_on.h"
#include "heatsink/admin/admin.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/process_metrics.h"
#include "heatsink/report/hotkeys_json.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;
using httpd::Answer;
using httpd::Question;

constexpr MetricRow kAnswers{"heatsink_watch_instance_up", MetricKind::kGauge,
                             "1 while the instance answers heatsink watch, else 0.", "instance"};
constexpr MetricRow kRequests{
    "heatsink_watch_instance_requests_per_second", MetricKind::kGauge,
    "Accesses per second that the instance counts; no row while it does not answer.", "instance"};
constexpr MetricRow kRounds{"heatsink_watch_answers_total", MetricKind::kCounter,
                            "Rounds of questions that the instance answered.", "instance"};
constexpr MetricRow kFailures{"heatsink_watch_failures_total", MetricKind::kCounter,
                              "Rounds of questions that the instance did not answer well.",
                              "instance"};

// Of a proxy, too: these may be asked of one instance.
constexpr std::array<std::string_view, 13> kPassedOn{
    "/api/hotkeys", "/api/heatmap", "/api/events",  "/api/advice", "/api/explain",
    "/api/key",     "/api/health",  "/api/slots",   "/api/rules",  "/api/rules/dry-run",
    "/api/warm",    "/metrics",     "/api/replicas"};

Answer hotkeys_of(const Poller& poller, const Question& asked) {
  const std::shared_ptr<const Picture> picture = poller.picture();
  json::object out = hotkeys_object(picture->report, asked.now.wall_at(picture->report.at));
  out["instances"] = instances_array(*picture, asked.now);
  const std::string silence = silence_of(picture->instances);
  if (!silence.empty()) out["headline"] = report::headline(picture->report) + "; " + silence;
  return httpd::json_answer(json::serialize(out) + "\n");
}

Answer instances_of(const Poller& poller, const Question& asked) {
  const std::shared_ptr<const Picture> picture = poller.picture();
  const std::optional<std::string> name = httpd::query_value(asked.query, "name");
  if (!name) {
    const json::object out{{"instances", instances_array(*picture, asked.now)}};
    return httpd::json_answer(json::serialize(out) + "\n");
  }
  const std::string text = httpd::query_value(asked.query, "db").value_or("0");
  std::uint32_t db = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), db);
  if (error != std::errc() || end != text.data() + text.size())
    return {400, "db must be the number of a database, as in db=0\n"};
  return httpd::json_answer(key_by_instance_json(*picture, *name, db, asked.now));
}

admin::Sources sources_of(const Poller& poller) {
  admin::Sources sources;
  sources.report = [&poller] { return poller.picture()->report; };
  sources.metrics = [&poller] { return admin::metrics_text(watch_samples(poller)); };
  sources.events = [&poller] { return poller.events(); };
  // Whatever the instances do, the watch itself works: their state is on its pages.
  sources.ready = [] { return Status(Unit{}); };
  sources.heatmap = [&poller](const heat::History::Range& range, httpd::Now) {
    return poller.heat().read(range);
  };
  sources.recent_heatmap = [&poller](const heat::History::Range& range) {
    return poller.heat().read(range);
  };
  sources.counts = [&poller] { return poller.heat().latest(); };
  return sources;
}

}  // namespace

std::vector<httpd::Route> watch_routes(const Poller& poller) {
  std::vector<httpd::Route> routes = admin::pages_of(sources_of(poller));
  const auto found = std::ranges::find(routes, "/api/hotkeys", &httpd::Route::path);
  found->get = [&poller](const Question& asked) {
    if (const auto name = httpd::unknown_parameter(asked.query, {}))
      return Answer{400, "unknown parameter '" + printable(*name, 64) + "'\n"};
    return hotkeys_of(poller, asked);
  };
  const auto pass_on = std::make_shared<PassOn>(poller);
  for (const std::string_view path : kPassedOn) {
    auto route = std::ranges::find(routes, path, &httpd::Route::path);
    if (route == routes.end()) {
      routes.push_back({path, "of one instance, as JSON: ?instance=NAME", httpd::Pace::kSlow,
                        [](const Question&) {
                          return Answer{404, "this page is one of an instance: ?instance=NAME\n"};
                        }});
      route = routes.end() - 1;
    }
    route->slow_with = PassOn::kParameter;
    route->get = [pass_on, path, of_all = std::move(route->get)](const Question& asked) {
      const std::optional<std::string> name = httpd::query_value(asked.query, PassOn::kParameter);
      return name ? pass_on->ask(*name, path, asked) : of_all(asked);
    };
  }
  routes.push_back({"/api/instances",
                    "the instances and what each of them counts, as JSON: ?name=NAME&db=0 of a key",
                    httpd::Pace::kSlow,
                    [&poller](const Question& asked) { return instances_of(poller, asked); }});
  return routes;
}

MetricRows watch_metric_rows() { return {&kAnswers, &kRequests, &kRounds, &kFailures}; }

MetricSamples watch_samples(const Poller& poller) {
  const std::shared_ptr<const Picture> picture = poller.picture();
  const std::vector<Poller::Asked> asked = poller.asked();
  MetricSamples out;
  for (std::size_t i = 0; i < picture->instances.size(); ++i) {
    const Instance& each = picture->instances[i];
    const MetricLabels labels{{"instance", each.name}};
    out.push_back({&kAnswers, each.answers() ? 1.0 : 0.0, labels});
    if (each.answers()) out.push_back({&kRequests, each.view->node.requests_rate, labels});
    out.push_back({&kRounds, static_cast<double>(asked[i].answers), labels});
    out.push_back({&kFailures, static_cast<double>(asked[i].failures), labels});
  }
  const MetricSamples more = process_samples();
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace heatsink::app
