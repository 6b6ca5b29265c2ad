// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/pages.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/admin/page_events.h"
#include "heatsink/admin/page_files.h"
#include "heatsink/admin/page_of.h"
#include "heatsink/admin/page_orders.h"
#include "heatsink/base/units.h"
#include "heatsink/report/events_json.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/inspection.h"

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

std::optional<std::uint32_t> db_in(const std::string& text) {
  constexpr std::uint64_t kDbMax = INT32_MAX;  // the maximum of any server
  const std::optional<std::uint64_t> db = whole_number_in(text);
  if (!db || *db > kDbMax) return std::nullopt;
  return static_cast<std::uint32_t>(*db);
}

constexpr std::uint64_t kLastSecond = 253'402'300'799;  // of the year 9999

struct DayRange {
  std::optional<WallTime> from{}, to{};
};
constexpr const char* kWrongTime =
    "from and to must be seconds since 1970, as in from=1795867200\n";

// Nothing: a time that is none.
std::optional<DayRange> day_range_in(std::string_view query) {
  DayRange out;
  for (auto [name, time] : {std::pair{"from", &out.from}, std::pair{"to", &out.to}}) {
    const std::optional<std::string> text = query_value(query, name);
    if (!text) continue;
    *time = day_time_in(*text);
    if (!*time) return std::nullopt;
  }
  return out;
}

constexpr std::uint64_t kLongestStep = 31 * 86'400;  // seconds

Answer get_heatmap(const Sources& sources, const Question& asked) {
  const auto wrong = [](const char* what) { return Answer{400, std::string(what) + "\n"}; };
  heat::History::Range range{.from = asked.now.boot - std::chrono::minutes(10),
                             .to = asked.now.boot};
  const auto boot_at = [&asked](WallTime wall) {
    return asked.now.boot - std::chrono::duration_cast<Nanos>(asked.now.wall - wall);
  };
  const std::optional<DayRange> times = day_range_in(asked.query);
  if (!times) return Answer{400, kWrongTime};
  if (times->from) range.from = boot_at(*times->from);
  if (times->to) range.to = boot_at(*times->to);
  if (const auto text = query_value(asked.query, "step")) {
    const std::optional<std::uint64_t> step = whole_number_in(*text);
    const auto is_it = [&](const heat::Tier& tier) {
      return step && static_cast<std::int64_t>(*step) == tier.step_s;
    };
    const bool is_in_hours = step && *step % 3600 == 0 && *step > 0 && *step <= kLongestStep;
    if (std::ranges::none_of(heat::kTiers, is_it) && !(sources.has_history_file && is_in_hours))
      return wrong("step must be 1, 10, 60 or 600 seconds; whole hours with history.file");
    range.step_s = static_cast<std::int64_t>(*step);
  }
  if (const auto text = query_value(asked.query, "after")) {
    const std::optional<std::uint64_t> after = whole_number_in(*text);
    if (!after || *after > kLastSecond) return wrong("after must be one of the answer's numbers");
    range.after = static_cast<std::int64_t>(*after);
  }
  if (const auto text = query_value(asked.query, "rows")) {
    const std::optional<std::uint64_t> rows = whole_number_in(*text);
    if (!rows || *rows == 0 || *rows > heat::History::kRowsMax)
      return wrong("rows must be 1 to 256");
    range.rows_max = *rows;
  }
  return json_answer(heat::heatmap_json(
      sources.heatmap(range, asked.now),
      [&asked](TimePoint moment) { return asked.now.wall_at(moment); }, sources.has_history_file));
}

Answer get_counts(const Sources& sources, const Question& asked) {
  const heat::Moment moment = sources.counts().value_or(heat::Moment{.at = asked.now.boot});
  return json_answer(heat::moment_json(moment, asked.now.boot - moment.at));
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
  const std::optional<DayRange> times = day_range_in(asked.query);
  if (!times) return {400, kWrongTime};
  const WallTime from = times->from.value_or(WallTime());
  const WallTime to = times->to.value_or(asked.now.wall);
  if (times->from && sources.kept_events) {
    if (std::optional<std::string> kept = sources.kept_events(from, to, asked.now))
      return json_answer(*std::move(kept));
  }
  std::vector<report::Event> events = sources.events();
  if (times->from || times->to) {
    std::erase_if(events, [&](const report::Event& event) {
      const WallTime at = asked.now.wall_at(event.at);
      return at < from || at >= to + std::chrono::seconds(1);
    });
  }
  return json_answer(report::events_json(events, asked.now.boot, asked.now.wall));
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

// Pages that are open ask at the same moment (web/page/app.js): one answer is made for all of them.
// The keeper's report and its JSON take about a millisecond.
constexpr Nanos kSharedFor = Millis(250);

httpd::Route::Page shared_for_a_moment(httpd::Route::Page page) {
  struct Kept {
    std::optional<TimePoint> at;
    Answer answer;
  };
  return [page = std::move(page), kept = std::make_shared<Kept>()](const Question& asked) {
    if (!asked.query.empty()) return page(asked);
    const Nanos age = kept->at ? asked.now.boot - *kept->at : kSharedFor;
    if (age < Nanos(0) || age >= kSharedFor) {
      kept->answer = page(asked);
      kept->at = asked.now.boot;
    }
    return kept->answer;
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
  if (shared->counts) {
    out.push_back({"/api/counts", "the busiest keys with bounds, for heatsink watch, as JSON",
                   Pace::kSlow, page_of(shared, get_counts)});
  }
  if (shared->advice) {
    out.push_back({"/api/advice", "what would relieve the hot keys, as JSON", Pace::kSlow,
                   shared_for_a_moment(page_of(shared, get_advice))});
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
       Pace::kSlow, shared_for_a_moment(page(get_hotkeys))}};
  if (shared->alive) out.insert(out.begin() + 1, httpd::life_route(shared->alive));
  out.push_back(httpd::version_route());
  if (shared->key) {
    out.push_back({"/api/key", "what is known of one key, as JSON: ?name=NAME&db=0", Pace::kSlow,
                   page(get_key, {"name", "db"})});
  }
  out.push_back({"/api/events", "keys that became hot or stopped being hot, as JSON", Pace::kSlow,
                 page(get_events, {"from", "to"})});
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
  add_orders(shared, out);
  return out;
}

}  // namespace heatsink::admin
