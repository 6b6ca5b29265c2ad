// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heatsink/httpd/sample_pages_for_test.h"

namespace heatsink::httpd {
namespace {

using ::testing::HasSubstr;

Answer answer(const Request& request, std::string_view token = "") {
  return RouteTable(sample_routes()).answer(request, {}, token);
}

Answer get(std::string_view target) { return answer({"GET", target, "localhost", false}); }

TEST(Routes, EachPathHasItsAnswer) {
  EXPECT_EQ(get("/healthz").body, "ok\n");
  EXPECT_EQ(get("/metrics").body, "heatsink_hits_total 7\n");
  EXPECT_EQ(get("/metrics").content_type, kMetricsContentType);
  EXPECT_EQ(get("/api/slow").content_type, "application/json");
  EXPECT_EQ(get("/api/order?a=b").body, "3");
  EXPECT_EQ(get("/").body,
            "heatsink admin API\n\n"
            "/               this list\n"
            "/healthz        200 \"ok\", or 503 and the reason\n"
            "/metrics        Prometheus text format\n"
            "/api/slow       a page that may ask a server\n"
            "/api/order      how long the query is, and what a POST has sent\n");
}

TEST(Routes, NotReadyIs503WithTheReason) {
  SamplePages pages;
  pages.ready = [] { return Status(Error{ErrorCode::kUnavailable, "the server does not answer"}); };
  const Answer told =
      RouteTable(routes_of(pages)).answer({"GET", "/healthz", "localhost", false}, {});
  EXPECT_EQ(told.status, 503u);
  EXPECT_EQ(told.body, "the server does not answer\n");
}

TEST(Routes, ASharedAnswerIsThatOfThePageWithThePace) {
  const RouteTable table(sample_routes());
  EXPECT_EQ(table.run_shared(Pace::kHealth, {}).body, "ok\n");
  EXPECT_EQ(table.run_shared(Pace::kMetrics, {}).body, "heatsink_hits_total 7\n");
}

TEST(Routes, AParameterMayMakeAPageSlow) {
  std::vector<Route> routes = sample_routes();
  std::ranges::find(routes, "/metrics", &Route::path)->slow_with = "instance";
  const RouteTable table(std::move(routes));
  const auto pace_of = [&table](std::string_view target) {
    return table.pace({"GET", target, "localhost", false});
  };
  EXPECT_EQ(pace_of("/metrics"), Pace::kMetrics);
  EXPECT_EQ(pace_of("/metrics?other=1"), Pace::kMetrics);
  EXPECT_EQ(pace_of("/metrics?instance=a:1"), Pace::kSlow);
  EXPECT_EQ(pace_of("/healthz?instance=a:1"), Pace::kHealth);
}

TEST(Routes, AMomentOfTheBootClockIsDatedByTheWallClockOfNow) {
  const Now now{TimePoint(std::chrono::seconds(1002)), WallTime(std::chrono::seconds(50))};
  EXPECT_EQ(now.wall_at(TimePoint(std::chrono::seconds(1000))), WallTime(std::chrono::seconds(48)));
}

Request from_browser(std::string_view target) {
  Request request{"GET", target, "localhost", false};
  request.accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  return request;
}

std::vector<Route> routes_with_a_page() {
  std::vector<Route> routes = sample_routes();
  Route front{"/", "", Pace::kAtOnce, [](const Question&) { return Answer{200, "the page"}; }};
  front.is_open = true;
  routes.push_back(std::move(front));
  return routes;
}

TEST(Routes, ABrowserGetsThePageAndOthersTheList) {
  const RouteTable table(routes_with_a_page());
  EXPECT_EQ(table.answer(from_browser("/"), {}).body, "the page");
  EXPECT_EQ(table.answer(from_browser("/?from=1"), {}).body, "the page");
  EXPECT_THAT(table.answer({"GET", "/", "localhost", false}, {}).body,
              HasSubstr("heatsink admin API"));
  EXPECT_EQ(table.answer(from_browser("/healthz"), {}).body, "ok\n");
  EXPECT_THAT(RouteTable(sample_routes()).answer(from_browser("/"), {}).body,
              HasSubstr("heatsink admin API"));
}

TEST(Routes, APageWithoutDataNeedsNoToken) {
  const RouteTable table(routes_with_a_page());
  constexpr std::string_view kToken = "0123456789abcdef";
  EXPECT_EQ(table.answer(from_browser("/"), {}, kToken).body, "the page");
  EXPECT_EQ(table.answer({"GET", "/", "localhost", false}, {}, kToken).status, 401u);
  EXPECT_EQ(table.answer(from_browser("/api/slow"), {}, kToken).status, 401u);
  Request from_elsewhere = from_browser("/");
  from_elsewhere.host = "evil.example";
  EXPECT_EQ(table.answer(from_elsewhere, {}).status, 403u);
}

TEST(Routes, WithATokenNothingIsAnsweredWithoutIt) {
  const auto ask = [](std::optional<std::string_view> authorization, std::string_view host) {
    return answer({"GET", "/api/slow", host, false, authorization}, "0123456789abcdef");
  };
  for (const auto bad : {std::optional<std::string_view>(), std::optional<std::string_view>(""),
                         std::optional<std::string_view>("Bearer 0123456789abcdeF")}) {
    const Answer refused = ask(bad, "localhost");
    EXPECT_EQ(refused.status, 401u);
    EXPECT_THAT(refused.body, HasSubstr("Authorization: Bearer TOKEN"));
    EXPECT_EQ(refused.body.find("0123456789"), std::string::npos);
  }
  EXPECT_EQ(ask("Bearer 0123456789abcdef", "localhost").status, 200u);
  EXPECT_EQ(ask("Bearer 0123456789abcdef", "proxy.example:6390").status, 200u);
  EXPECT_EQ(answer({"GET", "/healthz", "localhost", false}, "0123456789abcdef").status, 401u);
}

TEST(Routes, ElsewhereAQueryIsIgnored) { EXPECT_EQ(get("/healthz?verbose=1").body, "ok\n"); }

TEST(Routes, UnknownPathsGetTheList) {
  for (const char* path :
       {"/nope", "/healthz/", "//healthz", "healthz", "", "*", "http://localhost/healthz"}) {
    EXPECT_EQ(get(path).status, 404u) << path;
    EXPECT_THAT(get(path).body, HasSubstr("/metrics")) << path;
  }
}

TEST(Routes, OnlyGetAndHeadWithoutAFunctionForPost) {
  EXPECT_EQ(answer({"HEAD", "/healthz", "localhost", false}).status, 200u);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", "FROB"}) {
    EXPECT_EQ(answer({method, "/healthz", "localhost", false}).status, 405u) << method;
  }
}

TEST(Routes, HostMustBeOfThisMachine) {
  const auto status = [](std::optional<std::string_view> host, bool optional) {
    return answer({"GET", "/healthz", host, optional}).status;
  };
  EXPECT_EQ(status("evil.example", false), 403u);
  EXPECT_EQ(status("evil.example", true), 403u);
  EXPECT_EQ(status("", false), 403u);
  EXPECT_EQ(status(std::nullopt, false), 400u);
  EXPECT_EQ(status(std::nullopt, true), 200u);
  EXPECT_EQ(status("127.0.0.1:6390", false), 200u);
}

Answer post(std::string_view target, std::optional<std::string_view> type,
            std::string_view host = "localhost") {
  return answer({"POST", target, host, false, std::nullopt, type, "body"});
}

TEST(Routes, AFunctionForPostTakesJsonOnly) {
  EXPECT_EQ(post("/api/order", "application/json; charset=utf-8").body, "4");
  EXPECT_EQ(post("/api/slow", "application/json").status, 405u);
  EXPECT_EQ(answer({"PUT", "/api/order", "localhost"}).allowed, "GET, HEAD, POST");
  for (const std::optional<std::string_view> type :
       {std::optional<std::string_view>(), std::optional<std::string_view>("text/plain")})
    EXPECT_EQ(post("/api/order", type).status, 415u);
  EXPECT_EQ(post("/api/order", "application/json", "rebound.example").status, 403u);
}

}  // namespace
}  // namespace heatsink::httpd
