// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/pages.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/admin/page_events.h"
#include "heatsink/admin/page_files.h"
#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"
#include "heatsink/report/events_json.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/key_json.h"
#include "heatsink/report/warm_json.h"

namespace heatsink::admin {
namespace {

using httpd::Answer;
using httpd::json_answer;
using httpd::Pace;
using httpd::query_value;
using httpd::Question;

Answer get_hotkeys(const Sources& sources, const Question& asked) {
  const report::Report report = sources.report();
  return json_answer(hotkeys_json(report, asked.now.wall_at(report.at)));
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> db_in(const std::string& text) {
  constexpr std::uint64_t kDbMax = INT32_MAX;  // the maximum of any server
  const std::optional<std::uint64_t> db = number_in(text);
  if (!db || *db > kDbMax) return std::nullopt;
  return static_cast<std::uint32_t>(*db);
}

constexpr std::uint64_t kLastSecond = 253'402'300'799;  // of the year 9999

// Seconds since 1970. Nothing: no such number, or one that no clock of a person shows.
std::optional<WallTime> day_time_in(const std::string& text) {
  const std::optional<std::uint64_t> seconds = number_in(text);
  if (!seconds || *seconds > kLastSecond / 100) return std::nullopt;
  return WallTime(std::chrono::seconds(*seconds));
}

constexpr std::uint64_t kLongestStep = 31 * 86'400;  // seconds

Answer get_heatmap(const Sources& sources, const Question& asked) {
  const auto wrong = [](const char* what) { return Answer{400, std::string(what) + "\n"}; };
  heat::History::Range range{.from = asked.now.boot - std::chrono::minutes(10),
                             .to = asked.now.boot};
  const auto boot_at = [&asked](WallTime wall) {
    return asked.now.boot - std::chrono::duration_cast<Nanos>(asked.now.wall - wall);
  };
  for (auto [name, moment] : {std::pair{"from", &range.from}, std::pair{"to", &range.to}}) {
    const std::optional<std::string> text = query_value(asked.query, name);
    if (!text) continue;
    const std::optional<WallTime> wall = day_time_in(*text);
    if (!wall) return wrong("from and to must be seconds since 1970, as in from=1795867200");
    *moment = boot_at(*wall);
  }
  if (const auto text = query_value(asked.query, "step")) {
    const std::optional<std::uint64_t> step = number_in(*text);
    const auto is_it = [&](const heat::Tier& tier) {
      return step && static_cast<std::int64_t>(*step) == tier.step_s;
    };
    const bool is_in_hours = step && *step % 3600 == 0 && *step > 0 && *step <= kLongestStep;
    if (std::ranges::none_of(heat::kTiers, is_it) && !(sources.has_history_file && is_in_hours))
      return wrong("step must be 1, 10, 60 or 600 seconds; whole hours with history.file");
    range.step_s = static_cast<std::int64_t>(*step);
  }
  if (const auto text = query_value(asked.query, "after")) {
    const std::optional<std::uint64_t> after = number_in(*text);
    if (!after || *after > kLastSecond) return wrong("after must be one of the answer's numbers");
    range.after = static_cast<std::int64_t>(*after);
  }
  if (const auto text = query_value(asked.query, "rows")) {
    const std::optional<std::uint64_t> rows = number_in(*text);
    if (!rows || *rows == 0 || *rows > heat::History::kRowsMax)
      return wrong("rows must be 1 to 256");
    range.rows_max = *rows;
  }
  return json_answer(heat::heatmap_json(
      sources.heatmap(range, asked.now),
      [&asked](TimePoint moment) { return asked.now.wall_at(moment); }, sources.has_history_file));
}

Answer get_advice(const Sources& sources, const Question& asked) {
  Result<std::string> json = sources.advice(asked.now);
  if (!json.ok()) return {503, json.error().message + "\n"};
  return json_answer(std::move(json).value());
}

Answer get_explain(const Sources& sources, const Question& asked) {
  const std::optional<std::string> name = query_value(asked.query, "name");
  const std::optional<std::uint32_t> db = db_in(query_value(asked.query, "db").value_or("0"));
  if (!name || !db) return {400, "write /api/explain?name=NAME&db=0 (other bytes as %XX)\n"};
  Result<std::string> json = sources.explain(*name, *db, asked.now);
  if (!json.ok()) return {503, json.error().message + "\n"};
  return json_answer(std::move(json).value());
}

Answer get_events(const Sources& sources, const Question& asked) {
  return json_answer(report::events_json(sources.events(), asked.now.boot, asked.now.wall));
}

Answer get_key(const Sources& sources, const Question& asked) {
  const std::optional<std::string> name = query_value(asked.query, "name");
  if (!name)
    return {400,
            "the parameter name is missing: /api/key?name=NAME&db=0 (write other bytes as %XX)\n"};
  const std::optional<std::uint32_t> db = db_in(query_value(asked.query, "db").value_or("0"));
  if (!db) return {400, "db must be the number of a database, as in db=0\n"};
  const report::KeyInspection told = sources.key(*name, *db);
  if (told.report.keys.empty()) return {503, told.problem + "\n"};
  return json_answer(key_json(told, asked.now.boot, asked.now.wall));
}

Answer get_health(const Sources& sources, const Question& /*asked*/) {
  return json_answer(sources.health());
}

Answer get_slots(const Sources& sources, const Question& /*asked*/) {
  std::string json = sources.slots();
  if (json.empty()) return {404, "there is no cluster behind this proxy\n"};
  return json_answer(std::move(json));
}

Answer get_replicas(const Sources& sources, const Question& /*asked*/) {
  return json_answer(sources.replicas());
}

unsigned status_of(ErrorCode code) {
  return code == ErrorCode::kNotFound || code == ErrorCode::kInvalidArgument ? 404 : 503;
}

Answer get_statistic(const Sources& sources, const Question& asked) {
  const std::optional<std::string> key = query_value(asked.query, "key");
  if (!key) return {400, "the parameter key is missing: /api/stats?key=NAME&window=60s\n"};
  const Result<Nanos> window = parse_duration(query_value(asked.query, "window").value_or("60s"));
  if (!window.ok()) return {400, "window: " + window.error().message + "\n"};
  if (*window <= Nanos(0)) return {400, "window must be longer than 0\n"};
  Result<std::string> json = sources.statistic(*key, *window);
  if (!json.ok()) return {status_of(json.error().code), json.error().message + "\n"};
  return json_answer(std::move(json).value());
}

Answer warm_answer(const report::WarmReport& report, httpd::Now now) {
  return json_answer(warm_json(report, now.wall_at(report.at)));
}

Answer get_warm(const Sources& sources, const Question& asked) {
  const std::optional<std::string> text = query_value(asked.query, "search");
  const std::optional<std::uint64_t> search = text ? number_in(*text) : 0;
  if (!search) return {400, "search must be the number of a search, from the answer to its POST\n"};
  return warm_answer(sources.warmed(*search), asked.now);
}

Answer order(const Sources& sources, const Question& asked, bool ends) {
  Result<report::WarmOrder> order = report::parse_warm_order(asked.request.body, ends);
  if (!order.ok()) return {400, order.error().message + "\n"};
  log(LogLevel::kInfo, std::string(ends ? "the end of warming" : "warming") +
                           " was ordered by the admin API, " + printable(asked.request.peer));
  return warm_answer(sources.warm(*std::move(order)), asked.now);
}

Answer post_warm(const Sources& sources, const Question& asked) {
  return order(sources, asked, false);
}

Answer post_warm_end(const Sources& sources, const Question& asked) {
  return order(sources, asked, true);
}

Answer get_config(const Sources& sources, const Question& /*asked*/) {
  return json_answer(sources.config());
}

Answer outcome(Sources::ConfigAnswer answer) {
  Answer out = json_answer(std::move(answer.json));
  constexpr unsigned kUnprocessable = 422;
  if (!answer.is_done) out.status = kUnprocessable;
  return out;
}

Answer post_config(const Sources& sources, const Question& asked) {
  const Result<report::ConfigOrder> order = report::parse_config_order(asked.request.body);
  if (!order.ok()) return {400, order.error().message + "\n"};
  return outcome(sources.change_config(*order, asked.request.peer));
}

Answer post_rules(const Sources& sources, const Question& asked) {
  const Result<report::RuleOrder> order = report::parse_rule_order(asked.request.body);
  if (!order.ok()) return {400, order.error().message + "\n"};
  return outcome(sources.change_rules(*order, asked.request.peer));
}

using SharedSources = std::shared_ptr<const Sources>;
using PageOf = Answer (*)(const Sources&, const Question&);

// `takes`: the parameters of the page. Another one is a mistake, and would be without effect.
httpd::Route::Page page_of(SharedSources sources, PageOf of, std::vector<std::string> takes = {}) {
  return [sources = std::move(sources), of, takes = std::move(takes)](const Question& asked) {
    if (const auto name = httpd::unknown_parameter(asked.query, takes))
      return Answer{400, "unknown parameter '" + printable(*name, 64) + "'\n"};
    return of(*sources, asked);
  };
}

// What the page in a browser needs beside the hot keys.
void add_page(const SharedSources& shared, std::vector<httpd::Route>& out) {
  if (shared->heatmap) {
    out.push_back({"/api/heatmap", "what was hot when, as JSON: ?from=SECONDS&to=SECONDS",
                   Pace::kSlow,
                   page_of(shared, get_heatmap, {"from", "to", "step", "after", "rows"})});
    httpd::Route stream{"/api/stream", "the same as it comes, each second (server-sent events)",
                        Pace::kAtOnce, [](const Question&) {
                          return Answer{200, "", "text/event-stream"};
                        }};
    stream.events = event_source_of({shared->report, shared->events, shared->recent_heatmap});
    out.push_back(std::move(stream));
    for (httpd::Route& file : page_files()) out.push_back(std::move(file));
  }
  if (shared->advice) {
    out.push_back({"/api/advice", "what would relieve the hot keys, as JSON", Pace::kSlow,
                   page_of(shared, get_advice)});
  }
  if (shared->explain) {
    out.push_back({"/api/explain", "what would relieve a key, as JSON: ?name=NAME&db=0",
                   Pace::kSlow, page_of(shared, get_explain, {"name", "db"})});
  }
}

}  // namespace

std::vector<httpd::Route> pages_of(Sources sources) {
  const auto shared = std::make_shared<const Sources>(std::move(sources));
  const auto page = [&shared](PageOf of, std::vector<std::string> takes = {}) {
    return page_of(shared, of, std::move(takes));
  };
  std::vector<httpd::Route> out{
      httpd::health_route(shared->ready),
      httpd::metrics_route(shared->metrics),
      {"/api/hotkeys", "the hot keys with their evidence, and totals of the node, as JSON",
       Pace::kSlow, page(get_hotkeys)}};
  if (shared->alive) out.insert(out.begin() + 1, httpd::life_route(shared->alive));
  out.push_back(httpd::version_route());
  if (shared->key) {
    out.push_back({"/api/key", "what is known of one key, as JSON: ?name=NAME&db=0", Pace::kSlow,
                   page(get_key, {"name", "db"})});
  }
  out.push_back({"/api/events", "keys that became hot or stopped being hot, as JSON", Pace::kSlow,
                 page(get_events)});
  add_page(shared, out);
  if (shared->health) {
    out.push_back({"/api/health", "what the checks of server and machine found, as JSON",
                   Pace::kSlow, page(get_health)});
  }
  if (shared->slots) {
    out.push_back({"/api/slots", "the load of a cluster's nodes and slots with advice, as JSON",
                   Pace::kSlow, page(get_slots)});
  }
  if (shared->replicas) {
    out.push_back({"/api/replicas", "the replicas that hot keys are read from, as JSON",
                   Pace::kSlow, page(get_replicas)});
  }
  if (shared->statistic) {
    out.push_back({"/api/stats", "a window statistic, as JSON: ?key=NAME&window=60s", Pace::kSlow,
                   page(get_statistic, {"key", "window"})});
  }
  if (shared->warm && shared->warmed) {
    out.push_back({"/api/warm", "the warmed keys, as JSON; POST: warm keys", Pace::kSlow,
                   page(get_warm, {"search"}), page(post_warm)});
    out.push_back({"/api/warm/end", "the warmed keys, as JSON; POST: stop warming keys",
                   Pace::kSlow, page(get_warm, {"search"}), page(post_warm_end)});
  }
  if (shared->config && shared->change_config && shared->change_rules) {
    out.push_back({"/api/config", "the configuration that holds now, as JSON; POST: change it",
                   Pace::kSlow, page(get_config), page(post_config)});
    out.push_back({"/api/rules", "the same; POST: add or remove a rule", Pace::kSlow,
                   page(get_config), page(post_rules)});
  }
  return out;
}

}  // namespace heatsink::admin
