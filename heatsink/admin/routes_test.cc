// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/admin/metrics_text.h"
#include "heatsink/admin/sample_sources_for_test.h"

namespace heatsink::admin {
namespace {

using ::testing::HasSubstr;

const Now kNow{TimePoint(std::chrono::seconds(1002)),
               WallTime(std::chrono::seconds(1'795'262'402))};

Answer get(std::string_view target, const Sources& sources = sample_sources()) {
  return answer({"GET", target, "localhost", false}, sources, kNow);
}

TEST(Routes, EachPathHasItsAnswer) {
  EXPECT_EQ(get("/healthz").body, "ok\n");
  EXPECT_THAT(get("/metrics").body, HasSubstr("heatsink_hits_total 7\n"));
  EXPECT_EQ(get("/metrics").content_type, kMetricsContentType);
  EXPECT_EQ(get("/api/hotkeys").content_type, "application/json");
  EXPECT_THAT(get("/").body, HasSubstr("\n/api/hotkeys    the hot keys"));
  for (const char* path : {"/", "/healthz", "/metrics", "/api/hotkeys", "/api/events"})
    EXPECT_EQ(get(path).status, 200u) << path;
}

TEST(Routes, WithATokenNothingIsAnsweredWithoutIt) {
  const auto ask = [](std::optional<std::string_view> authorization, std::string_view host) {
    return answer({"GET", "/api/hotkeys", host, false, authorization}, sample_sources(), kNow,
                  "0123456789abcdef");
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
  EXPECT_EQ(
      answer({"GET", "/healthz", "localhost", false}, sample_sources(), kNow, "0123456789abcdef")
          .status,
      401u);
}

TEST(Routes, ReportIsDatedByItsOwnMoment) {
  EXPECT_THAT(get("/api/hotkeys").body, HasSubstr("\"at\":\"2026-11-21T12:00:00.000Z\""))
      << "made 2 s before now on the boot clock, so 2 s before now on the wall clock";
}

TEST(Routes, NotReadyIs503WithTheReason) {
  Sources sources = sample_sources();
  sources.ready = [] {
    return Status(Error{ErrorCode::kUnavailable, "the server does not answer"});
  };
  EXPECT_EQ(get("/healthz", sources).status, 503u);
  EXPECT_EQ(get("/healthz", sources).body, "the server does not answer\n");
  EXPECT_EQ(get("/metrics", sources).status, 200u);
}

TEST(Routes, AKeyIsAskedForByItsBytes) {
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

TEST(Routes, AStatisticIsAskedForByItsName) {
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

TEST(Routes, ElsewhereAQueryIsIgnored) { EXPECT_EQ(get("/healthz?verbose=1").body, "ok\n"); }

TEST(Routes, UnknownPathsGetTheList) {
  for (const char* path :
       {"/nope", "/healthz/", "//healthz", "healthz", "", "*", "http://localhost/healthz"}) {
    EXPECT_EQ(get(path).status, 404u) << path;
    EXPECT_THAT(get(path).body, HasSubstr("/metrics")) << path;
  }
}

TEST(Routes, OnlyGetAndHead) {
  EXPECT_EQ(answer({"HEAD", "/healthz", "localhost", false}, sample_sources(), kNow).status, 200u);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", "FROB"}) {
    EXPECT_EQ(answer({method, "/healthz", "localhost", false}, sample_sources(), kNow).status, 405u)
        << method;
  }
}

TEST(Routes, HostMustBeOfThisMachine) {
  const auto status = [](std::optional<std::string_view> host, bool optional) {
    return answer({"GET", "/healthz", host, optional}, sample_sources(), kNow).status;
  };
  EXPECT_EQ(status("evil.example", false), 403u);
  EXPECT_EQ(status("evil.example", true), 403u);
  EXPECT_EQ(status("", false), 403u);
  EXPECT_EQ(status(std::nullopt, false), 400u);
  EXPECT_EQ(status(std::nullopt, true), 200u);
  EXPECT_EQ(status("127.0.0.1:6390", false), 200u);
}

Answer post(std::string_view target, std::string_view body,
            std::optional<std::string_view> type = "application/json",
            std::string_view host = "localhost") {
  return answer({"POST", target, host, false, std::nullopt, type, body}, sample_sources(), kNow);
}

TEST(Routes, AnOrderToWarmIsAPost) {
  const Answer told = post("/api/warm", R"({"keys": ["a"], "for_seconds": 60})");
  EXPECT_EQ(told.status, 200u) << told.body;
  EXPECT_THAT(told.body, HasSubstr(R"("outcome":"loaded")"));
  EXPECT_EQ(post("/api/warm", "{}", "application/json; charset=utf-8").status, 400u);
  EXPECT_EQ(post("/api/warm/end", R"({"keys": ["a"]})").status, 200u);
  EXPECT_EQ(post("/api/hotkeys", "{}").status, 405u);
  EXPECT_EQ(answer({"PUT", "/api/warm", "localhost"}, sample_sources(), kNow).allowed,
            "GET, HEAD, POST");
}

TEST(Routes, OneSearchByItsNumber) {
  const auto get = [](std::string_view target) {
    return answer({"GET", target, "localhost"}, sample_sources(), kNow);
  };
  EXPECT_THAT(get("/api/warm?search=7").body, HasSubstr(R"("searches":[{"id":7,)"));
  EXPECT_THAT(get("/api/warm").body, HasSubstr(R"("searches":[])"));
  EXPECT_THAT(get("/api/warm?search=8").body, HasSubstr("there is no such search"));
  for (const char* wrong : {"", "x", "7x", "-1", "99999999999999999999"})
    EXPECT_EQ(get("/api/warm?search=" + std::string(wrong)).status, 400u) << wrong;
}

// A page may send what a form can send, to any host, and need not be let see the answer.
TEST(Routes, NoWebPageGivesOrders) {
  for (const std::optional<std::string_view> type :
       {std::optional<std::string_view>(), std::optional<std::string_view>("text/plain"),
        std::optional<std::string_view>("application/x-www-form-urlencoded"),
        std::optional<std::string_view>("application/jsonp")})
    EXPECT_EQ(post("/api/warm", R"({"keys": ["a"], "for_seconds": 60})", type).status, 415u);
  EXPECT_EQ(post("/api/warm", "{}", "application/json", "rebound.example").status, 403u);
}

}  // namespace
}  // namespace heatsink::admin
