// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/events_json.h"
#include "heatsink/report/report.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace heatsink::report {
namespace {

namespace json = boost::json;

const WallTime kWall = WallTime(std::chrono::seconds(1'795'262'400));
const TimePoint kBoot{std::chrono::seconds(1000)};

TEST(EventsJson, EventsHaveTheirEvidence) {
  Event event;
  event.number = 17;
  event.at = kBoot - Millis(1500);
  event.key = std::string("user:\0\xff", 7);
  event.db = 3;
  event.temperature = detect::Temperature::kHot;
  event.before = detect::Temperature::kWarm;
  event.measure = {std::chrono::seconds(1), detect::Dimension::kBytes};
  event.rule = "user:*";
  event.rate = 3412;
  event.share = 0.5;
  event.relief = LoadRelief{.hits = 30, .misses = 10, .hit_ratio = 0.75, .offload = 0.625};
  event.reason = "because of \"it\"";
  const json::value parsed = json::parse(events_json({event}, kBoot, kWall));
  EXPECT_EQ(parsed,
            json::parse(R"({"at": "2026-11-21T12:00:00.000Z", "source": "memory", "events": [{
    "number": 17, "at": "2026-11-21T11:59:58.500Z", "verdict": "hot", "before": "warm",
    "name": "user:\\x00\\xff", "name_base64": "dXNlcjoA/w==", "name_truncated": false, "db": 3,
    "dimension": "bytes", "window_seconds": 1, "rule": "user:*", "rate": 3412, "share": 0.5,
    "hits": 30, "misses": 10, "hit_ratio": 0.75, "offload": 0.625,
    "reason": "because of \"it\""}]})"))
      << json::serialize(parsed);
}

TEST(EventsJson, AStaleReadHasItsKeyAndReason) {
  Event event;
  event.number = 19;
  event.at = kBoot;
  event.stale_read = true;
  event.key = "k";
  event.db = 3;
  event.reason = "GET was served";
  EXPECT_EQ(json::parse(events_json({event}, kBoot, kWall)).at("events"), json::parse(R"([{
    "number": 19, "at": "2026-11-21T12:00:00.000Z", "verdict": "stale-read", "name": "k",
    "name_base64": "aw==", "name_truncated": false, "db": 3, "reason": "GET was served"}])"));
}

TEST(EventsJson, AnOutageIsAnEventWithoutAKey) {
  Event event;
  event.number = 20;
  event.at = kBoot;
  event.outage = true;
  event.reason = "2 copies may be served";
  EXPECT_EQ(json::parse(events_json({event}, kBoot, kWall)).at("events"), json::parse(R"([{
    "number": 20, "at": "2026-11-21T12:00:00.000Z", "verdict": "stale-while-error",
    "reason": "2 copies may be served"}])"));
}

TEST(EventsJson, ALimitThatCameByItselfHasItsKeyAndReason) {
  Event event;
  event.number = 20;
  event.at = kBoot;
  event.limit = Event::Limit::kBegan;
  event.key = "k";
  event.reason = "25000/s";
  EXPECT_EQ(json::parse(events_json({event}, kBoot, kWall)).at("events"), json::parse(R"([{
    "number": 20, "at": "2026-11-21T12:00:00.000Z", "verdict": "limited", "name": "k",
    "name_base64": "aw==", "name_truncated": false, "db": 0, "reason": "25000/s"}])"));
  event.limit = Event::Limit::kEnded;
  EXPECT_EQ(json::parse(events_json({event}, kBoot, kWall)).at("events").at(0).at("verdict"),
            "limit-ended");
}

TEST(EventsJson, AnOrderHasAKeyIfItIsAboutOne) {
  Event event;
  event.number = 20;
  event.at = kBoot;
  event.order = true;
  event.reason = "warming of 2 keys, by alice";
  EXPECT_EQ(json::parse(events_json({event}, kBoot, kWall)).at("events"), json::parse(R"([{
    "number": 20, "at": "2026-11-21T12:00:00.000Z", "verdict": "order",
    "reason": "warming of 2 keys, by alice"}])"));
  event.key = "k";
  EXPECT_EQ(json::parse(events_json({event}, kBoot, kWall)).at("events"), json::parse(R"([{
    "number": 20, "at": "2026-11-21T12:00:00.000Z", "verdict": "order", "name": "k",
    "name_base64": "aw==", "name_truncated": false, "db": 0,
    "reason": "warming of 2 keys, by alice"}])"));
}

TEST(EventsJson, NothingHotIsAnEventWithoutAKey) {
  Event event;
  event.number = 18;
  event.at = kBoot;
  event.nothing_hot = true;
  event.relief = LoadRelief{.hits = 3, .misses = 1, .hit_ratio = 0.75, .offload = -0.25};
  event.reason = "no key reaches 3000/s";
  EXPECT_EQ(json::parse(events_json({event}, kBoot, kWall)).at("events"), json::parse(R"([{
    "number": 18, "at": "2026-11-21T12:00:00.000Z", "verdict": "nothing-hot",
    "hits": 3, "misses": 1, "hit_ratio": 0.75, "offload": -0.25,
    "reason": "no key reaches 3000/s"}])"));
  EXPECT_TRUE(json::parse(events_json({}, kBoot, kWall)).at("events").as_array().empty());
}

}  // namespace
}  // namespace heatsink::report
