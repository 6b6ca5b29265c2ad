// SPDX-License-Identifier: Apache-2.0
// The pages that change something, and the dry run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/admin/pages.h"

namespace heatsink::admin {
namespace {

using httpd::Answer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const httpd::Now kOrderNow{TimePoint(std::chrono::hours(10)),
                           WallTime(std::chrono::seconds(1'795'262'400))};

// Sources that write down what they were asked.
class PageOrders : public testing::Test {
 protected:
  PageOrders() {
    sources_.report = [] { return report::Report{}; };
    sources_.metrics = [] { return std::string(); };
    sources_.events = [] { return std::vector<report::Event>(); };
    sources_.ready = [] { return Status(Unit{}); };
    sources_.warm = [](const report::WarmOrder&) { return report::WarmReport{}; };
    sources_.warmed = [](std::uint64_t) { return report::WarmReport{}; };
    sources_.note_order = [this](const std::string& what, const report::WarmKey& key) {
      notes_.push_back(what + (key.name.empty() ? "" : " key " + key.name));
    };
    sources_.drop = [this](const report::WarmKey& key, std::string_view who) {
      notes_.push_back(key.name + " in " + std::to_string(key.db) + " by " + std::string(who));
      report::DropReport report{.at = kOrderNow.boot, .key = key, .copies = 1};
      if (key.name == "busy") report.problem = "the keeper does not answer";
      return report;
    };
    sources_.sums = [this](TimePoint from, TimePoint to, httpd::Now) -> Result<heat::Sums> {
      from_ = from;
      to_ = to;
      if (redacts_) return Error{ErrorCode::kUnsupported, "no names"};
      heat::Sums sums{.from = from, .to = to, .requests = 100};
      sums.keys.push_back({.identity = {.name = "cart:1"}, .requests = 100, .low = 97});
      return sums;
    };
    sources_.matches = [] { return std::vector<std::string>{"x*"}; };
    asker_ = {.who = "alice, 10.0.0.1:5", .name = "alice", .has_token = true};
  }

  Answer get(std::string_view target) { return ask({"GET", target, "localhost"}); }
  Answer post(std::string_view target, std::string_view body) {
    return ask({"POST", target, "localhost", false, std::nullopt, "application/json", body});
  }
  Answer ask(httpd::Request request) {
    request.peer = asker_.who;
    request.asker = &asker_;
    return httpd::RouteTable(pages_of(sources_)).answer(request, kOrderNow);
  }

  Sources sources_;
  httpd::Asker asker_;
  std::vector<std::string> notes_;
  TimePoint from_{}, to_{};
  bool redacts_ = false;
};

TEST_F(PageOrders, ACopyIsDroppedByItsName) {
  const Answer told = post("/api/copies/drop", R"({"name": "a", "db": 2})");
  EXPECT_EQ(told.status, 200U) << told.body;
  EXPECT_THAT(told.body, HasSubstr(R"("copies":1)"));
  EXPECT_THAT(told.body, HasSubstr(R"("at":"2026-11-21T12:00:00.000Z")"));
  EXPECT_THAT(notes_, ElementsAre("a in 2 by the admin API, alice, 10.0.0.1:5"));
  EXPECT_EQ(post("/api/copies/drop", R"({"key": "a"})").status, 400U);
  EXPECT_EQ(post("/api/copies/drop", R"({"name": "busy"})").status, 503U);
  EXPECT_EQ(get("/api/copies/drop").status, 200U);
  EXPECT_EQ(notes_.size(), 2U) << "to look drops nothing";
}

TEST_F(PageOrders, AnOrderToWarmIsNotedWithWhoGaveIt) {
  EXPECT_EQ(post("/api/warm", R"({"keys": ["a"], "for_seconds": 60})").status, 200U);
  EXPECT_EQ(post("/api/warm", R"({"keys": ["a", "b"], "for_seconds": 60})").status, 200U);
  EXPECT_EQ(post("/api/warm", R"({"pattern": "cart:*", "for_seconds": 90})").status, 200U);
  EXPECT_EQ(post("/api/warm/end", R"({"search": 7})").status, 200U);
  EXPECT_EQ(post("/api/warm", "{}").status, 400U);
  const std::string by = " (by the admin API, alice, 10.0.0.1:5)";
  EXPECT_THAT(notes_, ElementsAre("warming for 1m" + by + " key a", "warming of 2 keys for 1m" + by,
                                  "warming of keys that match 'cart:*' for 90s" + by,
                                  "the end of warming by search 7" + by));
}

TEST_F(PageOrders, ANoteHasNoPatternWhereNamesAreHidden) {
  sources_.hides_names = true;
  EXPECT_EQ(post("/api/warm", R"({"pattern": "cart:*", "for_seconds": 90})").status, 200U);
  EXPECT_THAT(notes_, ElementsAre("warming of keys that match a pattern for 90s (by the admin API, "
                                  "alice, 10.0.0.1:5)"));
}

TEST_F(PageOrders, ADryRunLooksBackAnHourUnlessToldOtherwise) {
  const Answer told = get("/api/rules/dry-run?match=cart%3A*");
  EXPECT_EQ(told.status, 200U) << told.body;
  EXPECT_THAT(told.body, HasSubstr(R"("match":"cart:*")"));
  EXPECT_THAT(told.body, HasSubstr(R"("keys_at_least":1)"));
  EXPECT_EQ(to_, kOrderNow.boot);
  EXPECT_EQ(to_ - from_, std::chrono::hours(1));
  EXPECT_EQ(get("/api/rules/dry-run?match=a&from=1795262000&to=1795262100").status, 200U);
  EXPECT_EQ(from_, kOrderNow.boot - std::chrono::seconds(400));
  EXPECT_EQ(to_, kOrderNow.boot - std::chrono::seconds(300));
}

TEST_F(PageOrders, AWrongDryRunIsRefused) {
  for (const char* wrong : {"", "match=", "match=a&from=x", "match=a&to=-1", "rule=a"})
    EXPECT_EQ(get("/api/rules/dry-run?" + std::string(wrong)).status, 400U) << wrong;
  EXPECT_EQ(get("/api/rules/dry-run?match=" + std::string(1025, 'a')).status, 400U);
  redacts_ = true;
  EXPECT_EQ(get("/api/rules/dry-run?match=a").status, 503U);
}

TEST_F(PageOrders, SayWhatATokenAllows) {
  EXPECT_EQ(get("/api/access").body, "{\"name\":\"alice\",\"role\":\"operator\",\"token\":true}\n");
  asker_ = {.who = "127.0.0.1:5"};
  EXPECT_EQ(get("/api/access").body, "{\"name\":null,\"role\":\"operator\",\"token\":false}\n");
  asker_ = {.name = "\"\xff", .role = httpd::Role::kViewer, .has_token = true};
  EXPECT_THAT(get("/api/access").body, HasSubstr(R"("role":"viewer")"));
}

TEST_F(PageOrders, AProcessWithoutOrdersHasNoneOfThesePages) {
  sources_.warm = nullptr;
  sources_.drop = nullptr;
  sources_.sums = nullptr;
  for (const char* path : {"/api/access", "/api/copies/drop", "/api/rules/dry-run?match=a"})
    EXPECT_EQ(get(path).status, 404U) << path;
  EXPECT_THAT(get("/").body, Not(HasSubstr("drop")));
}

}  // namespace
}  // namespace heatsink::admin
