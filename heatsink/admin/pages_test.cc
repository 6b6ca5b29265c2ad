// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/admin/metrics_text.h"
#include "heatsink/base/version.h"
#include "heatsink/report/testing/sample_report.h"

namespace heatsink::admin {
namespace {

using httpd::Answer;
using ::testing::HasSubstr;
using ::testing::Not;

const httpd::Now kNow{TimePoint(std::chrono::seconds(1002)),
                      WallTime(std::chrono::seconds(1'795'262'402))};

constexpr MetricRow kSampleRow{"heatsink_hits_total", MetricKind::kCounter,
                               "Reads answered locally."};

Sources sample_sources() {
  return {report::sample_report,
          [] {
            return metrics_text({{&kSampleRow, 7}});
          },
          [] { return std::vector<report::Event>(3); },
          [](const std::string& name, Nanos window) -> Result<std::string> {
            if (name != "checkout") return Error{ErrorCode::kNotFound, "no such statistic"};
            return "{\"window\":" + std::to_string(window.count()) + "}\n";
          },
          [](const report::WarmOrder& order) {
            report::WarmReport report;
            for (const report::WarmKey& key : order.keys)
              report.keys.push_back({key, report::WarmOutcome::kLoaded, "", {}});
            return report;
          },
          [](std::uint64_t search) {
            report::WarmReport report;
            if (search == 7) report.searches.emplace_back().id = search;
            if (search > 7) report.problem = "there is no such search";
            return report;
          },
          report::sample_inspection,
          [] { return Status(Unit{}); }};
}

Answer answer(const httpd::Request& request, const Sources& sources = sample_sources()) {
  return httpd::RouteTable(pages_of(sources)).answer(request, kNow);
}

Answer get(std::string_view target, const Sources& sources = sample_sources()) {
  return answer({"GET", target, "localhost", false}, sources);
}

// Eight pages in browsers ask in the same moment.
TEST(AdminPages, WhoAsksAtTheSameMomentSharesAReport) {
  Sources sources = sample_sources();
  int reports = 0;
  sources.report = [&reports] {
    ++reports;
    return report::sample_report();
  };
  const httpd::RouteTable table(pages_of(sources));
  const auto ask = [&table](Nanos later, std::string_view target = "/api/hotkeys") {
    return table.answer({"GET", target, "localhost", false},
                        {kNow.boot + later, kNow.wall + later});
  };
  const std::string body = ask(Nanos(0)).body;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(ask(Millis(30 * i)).body, body);
  EXPECT_EQ(reports, 1);
  ask(Millis(250));
  EXPECT_EQ(reports, 2) << "nobody gets an old one";
  EXPECT_EQ(ask(Millis(251), "/api/hotkeys?x=1").status, 400U);
  ask(Millis(-5000));
  EXPECT_EQ(reports, 3);
}

TEST(AdminPages, CountsOfNowForAWatch) {
  EXPECT_EQ(get("/api/counts").status, 404U) << "a process without a history";
  Sources sources = sample_sources();
  std::optional<heat::Moment> counted;
  sources.counts = [&counted] { return counted; };
  const Result<heat::Moment> none = heat::parse_moment(get("/api/counts", sources).body, kNow.boot);
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_TRUE(none->items.empty());
  counted.emplace();
  counted->at = kNow.boot - std::chrono::seconds(2);
  counted->items.push_back({.identity = {.name = "a"}, .rate = 5, .rate_high = 6});
  const Result<heat::Moment> one = heat::parse_moment(get("/api/counts", sources).body, kNow.boot);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->at, counted->at);
  ASSERT_EQ(one->items.size(), 1U);
  EXPECT_EQ(one->items[0].rate_high, 6);
  EXPECT_EQ(get("/api/counts?x=1", sources).status, 400U);
}

TEST(AdminPages, EachPathHasItsAnswer) {
  EXPECT_EQ(get("/healthz").body, "ok\n");
  EXPECT_THAT(get("/metrics").body, HasSubstr("heatsink_hits_total 7\n"));
  EXPECT_EQ(get("/metrics").content_type, httpd::kMetricsContentType);
  EXPECT_EQ(get("/api/hotkeys").content_type, "application/json");
  EXPECT_THAT(get("/").body, HasSubstr("\n/api/hotkeys    the hot keys"));
  for (const char* path : {"/", "/healthz", "/metrics", "/api/hotkeys", "/api/events"})
    EXPECT_EQ(get(path).status, 200u) << path;
}

Sources with_a_heatmap(heat::History::Range& asked) {
  Sources sources = sample_sources();
  sources.heatmap = [&asked](const heat::History::Range& range, httpd::Now) {
    asked = range;
    heat::HeatMap map;
    map.step = std::chrono::seconds(1);
    map.steps.emplace_back().begin = TimePoint(std::chrono::seconds(1000));
    return map;
  };
  return sources;
}

TEST(AdminPages, AHeatmapIsAskedByTheTimeOfDay) {
  heat::History::Range asked;
  const Sources sources = with_a_heatmap(asked);
  const Answer told =
      get("/api/heatmap?from=1795262302&to=1795262400&step=10&after=7&rows=3", sources);
  EXPECT_THAT(told.body, HasSubstr("\"times\":[1795262400]")) << told.body;
  EXPECT_EQ(asked.from, TimePoint(std::chrono::seconds(902)));
  EXPECT_EQ(asked.to, TimePoint(std::chrono::seconds(1000)));
  EXPECT_EQ(asked.step_s, 10);
  EXPECT_EQ(asked.after, 7);
  EXPECT_EQ(asked.rows_max, 3u);
  EXPECT_EQ(get("/api/heatmap", sources).status, 200u);
  EXPECT_EQ(asked.to - asked.from, std::chrono::minutes(10)) << "the default";
}

// Of the last two seconds, and one from the minute before.
Sources with_three_events() {
  Sources sources = sample_sources();
  sources.events = [] {
    std::vector<report::Event> events(3);
    for (std::size_t i = 0; i < events.size(); ++i) {
      events[i].number = i + 1;
      events[i].at = TimePoint(std::chrono::seconds(i == 0 ? 940 : 1000 + static_cast<int>(i)));
    }
    return events;
  };
  return sources;
}

TEST(AdminPages, EventsOfATimeComeFromMemory) {
  const Sources sources = with_three_events();
  const auto numbers = [&sources](const std::string& query) {
    const std::string body = get("/api/events" + query, sources).body;
    std::string out;
    for (const char* each : {"1", "2", "3"})
      if (body.find(std::string("\"number\":") + each) != body.npos) out += each;
    return out;
  };
  EXPECT_EQ(numbers(""), "123");
  EXPECT_EQ(numbers("?from=1795262400"), "23");
  EXPECT_EQ(numbers("?from=1795262401&to=1795262401"), "2");
  EXPECT_EQ(numbers("?to=1795262350"), "1");
  for (const char* wrong : {"?from=yesterday", "?to=-1", "?at=5"})
    EXPECT_EQ(get(std::string("/api/events") + wrong, sources).status, 400U) << wrong;
}

TEST(AdminPages, EventsThatTheMemoryForgotComeFromTheFile) {
  Sources sources = with_three_events();
  WallTime from{}, to{};
  sources.kept_events = [&](WallTime begin, WallTime end,
                            httpd::Now) -> std::optional<std::string> {
    from = begin;
    to = end;
    if (begin >= kNow.wall - std::chrono::minutes(1)) return std::nullopt;
    return "{\"source\":\"file\"}\n";
  };
  EXPECT_EQ(get("/api/events?from=1795260000&to=1795262000", sources).body,
            "{\"source\":\"file\"}\n");
  EXPECT_EQ(from, WallTime(std::chrono::seconds(1'795'260'000)));
  EXPECT_EQ(to, WallTime(std::chrono::seconds(1'795'262'000)));
  EXPECT_THAT(get("/api/events?from=1795262400", sources).body, HasSubstr("\"number\":2"));
  EXPECT_EQ(to, kNow.wall) << "the default";
  EXPECT_THAT(get("/api/events", sources).body, HasSubstr("\"number\":1"));
}

TEST(AdminPages, AHeatmapOfAFileHasStepsOfHours) {
  heat::History::Range asked;
  Sources sources = with_a_heatmap(asked);
  EXPECT_EQ(get("/api/heatmap?step=3600", sources).status, 400U);
  sources.has_history_file = true;
  EXPECT_THAT(get("/api/heatmap?step=7200", sources).body, HasSubstr("\"has_file\":true"));
  EXPECT_EQ(asked.step_s, 7200);
  for (const char* wrong : {"3601", "0", "36000000"})
    EXPECT_EQ(get(std::string("/api/heatmap?step=") + wrong, sources).status, 400U) << wrong;
}

TEST(AdminPages, AWrongHeatmapIsRefused) {
  heat::History::Range asked;
  const Sources sources = with_a_heatmap(asked);
  for (const char* wrong :
       {"from=yesterday", "to=-1", "from=99999999999999999999", "step=7", "step=0", "after=x",
        "after=253402300800", "rows=0", "rows=257", "last=10"})
    EXPECT_EQ(get("/api/heatmap?" + std::string(wrong), sources).status, 400u) << wrong;
  EXPECT_EQ(get("/api/heatmap").status, 404u) << "a process without a history";
}

TEST(AdminPages, TheFilesOfThePageAreThereForABrowser) {
  heat::History::Range asked;
  const Sources sources = with_a_heatmap(asked);
  httpd::Request request{"GET", "/", "localhost", false};
  request.accept = "text/html";
  const Answer front = answer(request, sources);
  EXPECT_EQ(front.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(front.body, HasSubstr("<!doctype html>"));
  EXPECT_EQ(get("/page/app.js", sources).content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/page/page.css", sources).content_type, "text/css; charset=utf-8");
  EXPECT_EQ(get("/page/../routes.cc", sources).status, 404u);
  EXPECT_THAT(get("/", sources).body, Not(HasSubstr("/page/"))) << "parts of a page are not listed";
}

TEST(AdminPages, AdviceComesFromItsSource) {
  Sources sources = sample_sources();
  EXPECT_EQ(get("/api/advice", sources).status, 404u);
  sources.advice = [](httpd::Now) -> Result<std::string> { return std::string("{}\n"); };
  sources.explain = [](const std::string& name, std::uint32_t db,
                       httpd::Now) -> Result<std::string> {
    if (db == 9) return Error{ErrorCode::kUnavailable, "no answer"};
    return name + std::to_string(db);
  };
  EXPECT_EQ(get("/api/advice", sources).body, "{}\n");
  EXPECT_EQ(get("/api/explain?name=a%00b&db=2", sources).body, std::string("a\0b2", 4));
  EXPECT_EQ(get("/api/explain?name=a&db=9", sources).status, 503u);
  EXPECT_EQ(get("/api/explain?db=2", sources).status, 400u);
  EXPECT_EQ(get("/api/explain?name=a&db=x", sources).status, 400u);
}

TEST(AdminPages, AnUnknownParameterIsAMistake) {
  for (const char* path : {"/api/hotkeys?limit=abc", "/api/events?limit=1", "/api/hotkeys?limit",
                           "/api/key?name=a&database=1", "/api/warm?for=1s"})
    EXPECT_EQ(get(path).status, 400u) << path;
  EXPECT_EQ(get("/api/hotkeys?limit=abc").body, "unknown parameter 'limit'\n");
  EXPECT_EQ(get("/api/hotkeys?").status, 200u);
}

TEST(AdminPages, AStuckThreadIsNotTheServersFault) {
  Sources sources = sample_sources();
  EXPECT_EQ(get("/livez", sources).status, 404u) << "nothing says whether threads are alive";
  sources.ready = [] { return Status(Error{ErrorCode::kUnavailable, "no server"}); };
  sources.alive = [] { return Status(Unit{}); };
  EXPECT_EQ(get("/livez", sources).body, "ok\n");
  sources.alive = [] { return Status(Error{ErrorCode::kTimedOut, "worker 1 is stuck"}); };
  EXPECT_EQ(get("/livez", sources).status, 503u);
  EXPECT_EQ(get("/livez", sources).body, "worker 1 is stuck\n");
}

TEST(AdminPages, ThePageOfTheVersion) {
  EXPECT_EQ(get("/api/version").body, "{\"version\":\"" + std::string(version()) + "\"}\n");
}

TEST(AdminPages, ReportIsDatedByItsOwnMoment) {
  EXPECT_THAT(get("/api/hotkeys").body, HasSubstr("\"at\":\"2026-11-21T12:00:00.000Z\""))
      << "made 2 s before now on the boot clock, so 2 s before now on the wall clock";
}

TEST(AdminPages, NotReadyIs503WithTheReason) {
  Sources sources = sample_sources();
  sources.ready = [] {
    return Status(Error{ErrorCode::kUnavailable, "the server does not answer"});
  };
  EXPECT_EQ(get("/healthz", sources).status, 503u);
  EXPECT_EQ(get("/healthz", sources).body, "the server does not answer\n");
  EXPECT_EQ(get("/metrics", sources).status, 200u);
}

TEST(AdminPages, FindingsAreShownIfThereAreChecks) {
  EXPECT_EQ(get("/api/health").status, 404u);
  Sources sources = sample_sources();
  sources.health = [] { return std::string("{\"findings\":[]}\n"); };
  EXPECT_EQ(get("/api/health", sources).body, "{\"findings\":[]}\n");
  EXPECT_EQ(get("/api/health", sources).content_type, "application/json");
  EXPECT_THAT(get("/", sources).body, HasSubstr("\n/api/health     what the checks"));
}

TEST(AdminPages, SlotsAreThoseOfACluster) {
  EXPECT_EQ(get("/api/slots").status, 404u);
  Sources sources = sample_sources();
  sources.slots = [] { return std::string(); };
  EXPECT_EQ(get("/api/slots", sources).body, "there is no cluster behind this proxy\n");
  sources.slots = [] { return std::string("{}\n"); };
  EXPECT_EQ(get("/api/slots", sources).body, "{}\n");
}

TEST(AdminPages, ReplicasAreShownByAProxy) {
  EXPECT_EQ(get("/api/replicas").status, 404u);
  Sources sources = sample_sources();
  sources.replicas = [] { return std::string("{\"replicas\":[]}\n"); };
  EXPECT_EQ(get("/api/replicas", sources).body, "{\"replicas\":[]}\n");
}

TEST(AdminPages, AKeyIsAskedForByItsBytes) {
  const Answer told = get("/api/key?name=a%00b%26c&db=3");
  EXPECT_EQ(told.status, 200u);
  EXPECT_EQ(told.content_type, "application/json");
  EXPECT_THAT(told.body, HasSubstr(R"("name_base64":"YQBiJmM=","name_truncated":false,"db":3)"));
  EXPECT_EQ(get("/api/key?name=").status, 200u);  // a name like any other
  EXPECT_THAT(get("/api/key?name=a").body, HasSubstr("\"db\":0"));
  EXPECT_EQ(get("/api/key").status, 400u);
  EXPECT_THAT(get("/api/key?db=1").body, HasSubstr("/api/key?name=NAME"));
  for (const char* db : {"", "-1", "1x", "4294967296", "2147483648"})
    EXPECT_EQ(get(std::string("/api/key?name=a&db=") + db).status, 400u) << db;
  EXPECT_EQ(get("/api/key?name=a&db=9").status, 503u);
  EXPECT_EQ(get("/api/key?name=a&db=9").body, "the keeper does not answer\n");
}

TEST(AdminPages, AStatisticIsAskedForByItsName) {
  EXPECT_EQ(get("/api/stats?key=checkout").body, "{\"window\":60000000000}\n");
  EXPECT_EQ(get("/api/stats?window=1ms&key=check%6fut").body, "{\"window\":1000000}\n");
  EXPECT_EQ(get("/api/stats?key=checkout").content_type, "application/json");
  EXPECT_EQ(get("/api/stats?key=other").status, 404u);
  EXPECT_EQ(get("/api/stats").status, 400u);
  EXPECT_THAT(get("/api/stats?window=5s").body, HasSubstr("?key=NAME"));
  EXPECT_THAT(get("/api/stats?key=checkout&window=5").body, HasSubstr("write a number and us"));
  EXPECT_EQ(get("/api/stats?key=checkout&window=0s").status, 400u);
  Sources sources = sample_sources();
  sources.statistic = [](const std::string&, Nanos) -> Result<std::string> {
    return Error{ErrorCode::kUnavailable, "the server does not answer"};
  };
  EXPECT_EQ(get("/api/stats?key=checkout", sources).status, 503u);
  EXPECT_EQ(get("/api/stats?key=checkout", sources).body, "the server does not answer\n");
}

Answer post(std::string_view target, std::string_view body,
            std::optional<std::string_view> type = "application/json",
            std::string_view host = "localhost") {
  return answer({"POST", target, host, false, std::nullopt, type, body});
}

TEST(AdminPages, AnOrderToWarmIsAPost) {
  const Answer told = post("/api/warm", R"({"keys": ["a"], "for_seconds": 60})");
  EXPECT_EQ(told.status, 200u) << told.body;
  EXPECT_THAT(told.body, HasSubstr(R"("outcome":"loaded")"));
  EXPECT_EQ(post("/api/warm", "{}", "application/json; charset=utf-8").status, 400u);
  EXPECT_EQ(post("/api/warm/end", R"({"keys": ["a"]})").status, 200u);
  EXPECT_EQ(post("/api/hotkeys", "{}").status, 405u);
  EXPECT_EQ(answer({"PUT", "/api/warm", "localhost"}).allowed, "GET, HEAD, POST");
}

TEST(AdminPages, WhatThisProcessHasNotHasNoPage) {
  Sources sources = sample_sources();
  sources.key = nullptr;
  sources.warm = nullptr;
  for (const char* path : {"/api/key?name=a", "/api/warm", "/api/warm/end"})
    EXPECT_EQ(get(path, sources).status, 404u) << path;
  EXPECT_EQ(get("/", sources).body.find("/api/warm"), std::string::npos);
  EXPECT_EQ(get("/api/stats?key=checkout", sources).status, 200u);
}

TEST(AdminPages, OneSearchByItsNumber) {
  const auto get = [](std::string_view target) { return answer({"GET", target, "localhost"}); };
  EXPECT_THAT(get("/api/warm?search=7").body, HasSubstr(R"("searches":[{"id":7,)"));
  EXPECT_THAT(get("/api/warm").body, HasSubstr(R"("searches":[])"));
  EXPECT_THAT(get("/api/warm?search=8").body, HasSubstr("there is no such search"));
  for (const char* wrong : {"", "x", "7x", "-1", "99999999999999999999"})
    EXPECT_EQ(get("/api/warm?search=" + std::string(wrong)).status, 400u) << wrong;
}

// A web page may send a form to any host, even if it cannot read the answer.
TEST(AdminPages, NoWebPageGivesOrders) {
  for (const std::optional<std::string_view> type :
       {std::optional<std::string_view>(), std::optional<std::string_view>("text/plain"),
        std::optional<std::string_view>("application/x-www-form-urlencoded"),
        std::optional<std::string_view>("application/jsonp")})
    EXPECT_EQ(post("/api/warm", R"({"keys": ["a"], "for_seconds": 60})", type).status, 415u);
  EXPECT_EQ(post("/api/warm", "{}", "application/json", "rebound.example").status, 403u);
}

}  // namespace
}  // namespace heatsink::admin
