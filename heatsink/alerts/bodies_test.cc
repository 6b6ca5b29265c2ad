// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "heatsink/alerts/report_for_test.h"

namespace heatsink::alerts {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

const Letterhead kHead{"cache-1:6380", "127.0.0.1:6379", at_second(100),
                       WallTime(std::chrono::seconds(1'795'867'200))};

Notice hot_notice() {
  return {{.kind = Kind::kExtremelyHot,
           .subject = "<b>&\"k",
           .db = 2,
           .summary = "<b>&\"k is extremely hot: 1000/s, 50.0 % of the traffic",
           .advice = "do this",
           .rate = 1000,
           .share = 0.5,
           .since = at_second(40)},
          false,
          false};
}

Notice over_notice() {
  return {{.kind = Kind::kServerDown,
           .subject = "127.0.0.1:6379",
           .summary = "the server cannot be reached",
           .since = at_second(90)},
          true,
          false};
}

TEST(Bodies, OurOwnJsonHasAllFields) {
  const json::value body = json::parse(json_body({hot_notice(), over_notice()}, kHead));
  EXPECT_EQ(body.at("instance"), "cache-1:6380");
  EXPECT_EQ(body.at("upstream"), "127.0.0.1:6379");
  EXPECT_EQ(body.at("at"), "2026-11-28T12:00:00.000Z");
  const json::value& hot = body.at("alerts").at(0);
  EXPECT_EQ(hot.at("kind"), "extremely-hot");
  EXPECT_EQ(hot.at("state"), "firing");
  EXPECT_EQ(hot.at("severity"), "warning");
  EXPECT_EQ(hot.at("key"), "<b>&\"k");
  EXPECT_EQ(hot.at("db"), 2);
  EXPECT_EQ(hot.at("rate"), 1000);
  EXPECT_EQ(hot.at("share"), 0.5);
  EXPECT_EQ(hot.at("since"), "2026-11-28T11:59:00.000Z");
  const json::value& over = body.at("alerts").at(1);
  EXPECT_EQ(over.at("state"), "resolved");
  EXPECT_EQ(over.at("severity"), "critical");
  EXPECT_EQ(over.at("server"), "127.0.0.1:6379");
}

TEST(Bodies, SlackGetsOneTextThatNoNameCanMarkUp) {
  const json::value body = json::parse(slack_body({hot_notice(), over_notice()}, kHead));
  ASSERT_EQ(body.as_object().size(), 1U);
  const std::string text(body.at("text").as_string());
  EXPECT_THAT(text, HasSubstr(":fire: &lt;b&gt;&amp;\"k is extremely hot"));
  EXPECT_THAT(text, HasSubstr("\n> do this\n"));
  EXPECT_THAT(text, HasSubstr(":white_check_mark: over (since 2026-11-28T11:59:50.000Z)"));
  EXPECT_THAT(text, HasSubstr("_heatsink cache-1:6380, server 127.0.0.1:6379_"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
}

TEST(Bodies, ANameCallsNobodyInSlack) {
  Notice notice = hot_notice();
  notice.alert.summary = "@channel [a](b) is hot";
  const json::value body = json::parse(slack_body({notice}, kHead));
  EXPECT_THAT(std::string(body.at("text").as_string()),
              HasSubstr("@\u200Bchannel [\u200Ba]\u200B(b) is hot"));
}

TEST(Bodies, AlertmanagerGetsLabelsAndTheTimeOfTheEnd) {
  const json::value body = json::parse(alertmanager_body({hot_notice(), over_notice()}, kHead));
  const json::value& hot = body.at(0);
  EXPECT_EQ(hot.at("labels").at("alertname"), "HeatsinkExtremelyHot");
  EXPECT_EQ(hot.at("labels").at("key"), "<b>&\"k");
  EXPECT_EQ(hot.at("labels").at("db"), "2");
  EXPECT_EQ(hot.at("labels").at("instance"), "cache-1:6380");
  EXPECT_EQ(hot.at("annotations").at("description"), "do this");
  EXPECT_EQ(hot.at("startsAt"), "2026-11-28T11:59:00.000Z");
  EXPECT_EQ(hot.at("endsAt"), "2026-11-28T12:05:00.000Z");
  EXPECT_EQ(body.at(1).at("labels").at("alertname"), "HeatsinkServerDown");
  EXPECT_EQ(body.at(1).at("endsAt"), "2026-11-28T12:00:00.000Z");
}

TEST(Bodies, ALineOfTheLogSaysWhatToDo) {
  EXPECT_EQ(log_line(hot_notice()),
            "alert extremely-hot: <b>&\"k is extremely hot: 1000/s, 50.0 % "
            "of the traffic: do this");
  EXPECT_EQ(log_line(over_notice()), "alert server-down: it is over: the server cannot be reached");
}

}  // namespace
}  // namespace heatsink::alerts
