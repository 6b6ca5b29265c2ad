// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/admin/metrics_text.h"
#include "heatsink/admin/sample_sources_test.h"

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

TEST(Routes, QueryIsIgnored) { EXPECT_EQ(get("/healthz?verbose=1").body, "ok\n"); }

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

}  // namespace
}  // namespace heatsink::admin
