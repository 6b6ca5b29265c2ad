// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/heatmap_json.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <cmath>

namespace heatsink::heat {
namespace {

namespace json = boost::json;

HeatMap two_steps() {
  HeatMap map;
  map.step = std::chrono::seconds(1);
  map.window = std::chrono::seconds(10);
  for (int i = 0; i < 2; ++i) {
    HeatMap::Step step;
    step.begin = TimePoint(std::chrono::seconds(100 + i));
    step.number = 100 + i;
    step.totals = {1234.5F,  12.345F, 0.0123F, 0,     NAN,      NAN, NAN,
                   0.00025F, 700,     6.1e6F,  0.21F, -0.0432F, NAN};
    step.requests_max = 2000;
    step.unnamed_max = {1.5F, NAN, 3, NAN, 8};
    map.steps.push_back(step);
  }
  map.rows.push_back({{Kind::kKey, 3, false, "user:\xff"}, {1, 0}, {2, 0}, {0, 0}, {1, 0}, {7, 0}});
  map.rows.push_back({{Kind::kSlot, 0, false, "12182"}, {1, 0}, {2, 0}, {0, 0}, {0, 0}, {0, 0}});
  map.rows.push_back(
      {{Kind::kNode, 0, false, "10.0.0.1:7000"}, {1, 0}, {2, 0}, {0, 0}, {0, 0}, {0, 0}});
  return map;
}

json::object parsed(const HeatMap& map) {
  const WallTime day = WallTime(std::chrono::seconds(1'800'000'000));
  const std::string text = heatmap_json(map, [day](TimePoint at) {
    return day + std::chrono::duration_cast<WallTime::duration>(at.time_since_epoch());
  });
  return json::parse(text).as_object();
}

TEST(HeatmapJson, TimesAreOfTheDay) {
  const json::object map = parsed(two_steps());
  EXPECT_EQ(map.at("step_seconds"), 1);
  EXPECT_EQ(map.at("window_seconds"), 10.0);
  EXPECT_EQ(map.at("times"), json::parse("[1800000100,1800000101]"));
  EXPECT_EQ(map.at("numbers"), json::parse("[100,101]"));
}

TEST(HeatmapJson, TotalsAreShortAndUnknownIsNull) {
  const json::object map = parsed(two_steps());
  const json::object& totals = map.at("totals").as_object();
  EXPECT_EQ(totals.at("requests").as_array()[0], 1235);
  EXPECT_EQ(totals.at("reads").as_array()[0], 12.3);
  EXPECT_EQ(totals.at("writes").as_array()[0], 0.0123);
  EXPECT_TRUE(totals.at("commands").as_array()[0].is_null());
  EXPECT_EQ(totals.at("latency_p99_seconds").as_array()[0], 0.00025);
  EXPECT_EQ(totals.at("bytes").as_array()[0], 6'100'000);
  EXPECT_EQ(totals.at("server_cpu_spared_cores").as_array()[0], -0.0432);
  EXPECT_EQ(map.at("unnamed_max").at("client").as_array()[0], 8);
  EXPECT_EQ(map.at("unnamed_max").at("key").as_array()[1], 1.5);
  EXPECT_TRUE(map.at("unnamed_max").at("template").as_array()[1].is_null());
}

TEST(HeatmapJson, ARowHasItsNameAndItsPlanes) {
  const json::object map = parsed(two_steps());
  const json::object& row = map.at("rows").as_array()[0].as_object();
  EXPECT_EQ(row.at("kind"), "key");
  EXPECT_EQ(row.at("name"), "user:\\xff");
  EXPECT_EQ(row.at("name_base64"), "dXNlcjr/");
  EXPECT_EQ(row.at("db"), 3);
  EXPECT_EQ(row.at("mean"), "AQA=");
  EXPECT_EQ(row.at("max"), "AgA=");
  EXPECT_EQ(row.at("bytes"), "BwA=");
}

TEST(HeatmapJson, SlotsAndNodesHaveRowsAndTheirSum) {
  const json::object map = parsed(two_steps());
  EXPECT_EQ(map.at("rows").at(1).at("kind"), "slot");
  EXPECT_EQ(map.at("rows").at(1).at("name"), "12182");
  EXPECT_EQ(map.at("rows").at(2).at("kind"), "node");
  EXPECT_EQ(map.at("totals").at("node_commands").at(0), 700);
  EXPECT_EQ(map.at("unnamed_max").at("slot").at(0), 3);
  EXPECT_TRUE(map.at("unnamed_max").at("node").at(0).is_null());
}

}  // namespace
}  // namespace heatsink::heat
