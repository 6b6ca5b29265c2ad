// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/column_stream.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <string>

#include "heatsink/base/base64.h"

namespace heatsink::heat {
namespace {

namespace json = boost::json;

constexpr WallTime kBegin{std::chrono::seconds(1'800'000'100)};

HeatMap column_of(std::int64_t number, const std::vector<std::string>& names) {
  HeatMap map;
  map.window = std::chrono::seconds(10);
  HeatMap::Step step;
  step.number = number;
  step.totals.fill(41'234.5F);
  step.unnamed_max = {12.5F, 0};
  map.steps.push_back(step);
  for (const std::string& name : names)
    map.rows.push_back({{Kind::kKey, 0, false, name}, {100}, {100}, {2}, {50}, {60}});
  return map;
}

// As many as a column names.
void add_places(HeatMap& map, Kind kind) {
  for (std::size_t i = 0; i < kPerMoment[static_cast<std::size_t>(kind)]; ++i)
    map.rows.push_back({{kind, 0, false, std::to_string(i)}, {99}, {99}, {0}, {0}, {0}});
}

TEST(ColumnStream, ANameIsSentOnce) {
  ColumnStream stream;
  const json::object first = stream.column(column_of(7, {"a", "b"}), 0, kBegin);
  EXPECT_EQ(first.at("number"), 7);
  EXPECT_EQ(first.at("time"), 1'800'000'100);
  EXPECT_EQ(first.at("ids"), "AAE=");  // 0 and 1
  EXPECT_EQ(first.at("mean"), "ZGQ=");
  EXPECT_EQ(first.at("writes"), "AgI=");
  EXPECT_EQ(first.at("hits"), "MjI=");
  EXPECT_EQ(first.at("bytes"), "PDw=");
  EXPECT_EQ(first.at("names").at(1).at("name"), "b");
  EXPECT_EQ(first.at("names").at(1).at("id"), 1);
  const json::object second = stream.column(column_of(8, {"b", "c"}), 0, kBegin);
  ASSERT_EQ(second.at("names").as_array().size(), 1U);
  EXPECT_EQ(second.at("names").at(0).at("name"), "c");
  EXPECT_EQ(second.at("ids"), "AQE=");  // 1 and 2
  EXPECT_EQ(stream.names().size(), 3U);
}

TEST(ColumnStream, ANameThatWasGoneForLongIsSentAgain) {
  ColumnStream stream;
  stream.column(column_of(0, {"a", "b"}), 0, kBegin);
  for (std::int64_t i = 1; i <= ColumnStream::kForgetAfter; ++i)
    stream.column(column_of(i, {"a"}), 0, kBegin);
  EXPECT_EQ(stream.names().size(), 2U);
  stream.column(column_of(ColumnStream::kForgetAfter + 1, {"a"}), 0, kBegin);
  EXPECT_EQ(stream.names().size(), 1U);
  const json::object back =
      stream.column(column_of(ColumnStream::kForgetAfter + 2, {"a", "b"}), 0, kBegin);
  ASSERT_EQ(back.at("names").as_array().size(), 1U);
  EXPECT_EQ(back.at("names").at(0).at("name"), "b");
}

TEST(ColumnStream, HasRoomForAnyNumberOfNames) {
  ColumnStream stream;
  int serial = 0;
  for (std::int64_t column = 0; column < 40; ++column) {
    std::vector<std::string> names;
    for (int i = 0; i < 96; ++i) names.push_back(std::to_string(serial++));
    const json::object sent = stream.column(column_of(column, names), 0, kBegin);
    ASSERT_EQ(sent.at("names").as_array().size(), 96U);
    ASSERT_EQ(sent.at("mean").as_string().size(), 128U);
    ASSERT_LE(stream.names().size(), ColumnStream::kNamesMax);
  }
}

TEST(ColumnStream, AColumnOfKnownNamesIsSmall) {
  ColumnStream stream;
  std::vector<std::string> names;
  for (int i = 0; i < 96; ++i) names.push_back("product:" + std::to_string(i) + ":price");
  HeatMap map = column_of(1, names);
  add_places(map, Kind::kClient);
  stream.column(map, 0, kBegin);
  const std::string text = json::serialize(stream.column(map, 0, kBegin));
  EXPECT_LT(text.size(), 1300U);
}

TEST(ColumnStream, AColumnOfAClusterIsSmall) {
  ColumnStream stream;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 96; ++i) names.push_back(std::to_string(i));
  HeatMap map = column_of(1, names);
  map.steps[0].totals.fill(1'234'567);  // as long as it becomes
  for (const Kind kind : {Kind::kSlot, Kind::kNode, Kind::kClient}) add_places(map, kind);
  ASSERT_EQ(map.rows.size(), 160U);
  stream.column(map, 0, kBegin);
  const std::string text = json::serialize(stream.column(map, 0, kBegin));
  EXPECT_LT(text.size(), 1400U);
}

// The numbers that a reader makes of `ids` (docs/reference/http-api.md).
std::vector<std::size_t> numbers_in(const json::object& column) {
  const std::string ids = from_base64(std::string(column.at("ids").as_string())).value();
  std::vector<std::size_t> out;
  std::size_t number = 0;
  for (const char each : ids) {
    const auto byte = static_cast<unsigned char>(each);
    number = (number + byte) % ColumnStream::kNamesMax;
    if (byte < 255) out.push_back(number);
  }
  return out;
}

TEST(ColumnStream, NumbersOfAnyDistanceAreToldByTheirDifferences) {
  ColumnStream stream;
  const auto names = [](int from, int end) {
    std::vector<std::string> out;
    for (int i = from; i < end; ++i) out.push_back(std::to_string(i));
    return out;
  };
  for (int i = 0; i < 10; ++i) stream.column(column_of(i, names(90 * i, 90 * i + 90)), 0, kBegin);
  HeatMap map = column_of(10, {"0", "1", "255", "256", "511", "899"});
  map.rows.push_back({{Kind::kNode, 0, false, "n"}, {200}, {200}, {0}, {0}, {0}});
  map.rows.push_back({{Kind::kKey, 0, false, "600"}, {90}, {90}, {7}, {0}, {0}});
  const json::object sent = stream.column(map, 0, kBegin);
  ASSERT_EQ(sent.at("names").as_array().size(), 1U);
  EXPECT_EQ(numbers_in(sent), (std::vector<std::size_t>{0, 1, 255, 256, 511, 600, 899, 900}));
  // A row that is not counted comes last, whatever its number.
  map.rows.push_back({{Kind::kKey, 0, false, "new"}, {100}, {100}, {2}, {50}, {60}});
  EXPECT_EQ(numbers_in(stream.column(map, 0, kBegin)),
            (std::vector<std::size_t>{0, 1, 255, 256, 511, 600, 899, 901, 900}));
}

// Nodes are busier than keys, so they come first in the map.
TEST(ColumnStream, ZerosAtTheEndAreNotSent) {
  ColumnStream stream;
  HeatMap map = column_of(1, {"a", "b"});
  map.rows.insert(map.rows.begin(), {{Kind::kNode, 0, false, "n"}, {200}, {200}, {0}, {0}, {0}});
  map.rows[2].writes = {0};
  const json::object sent = stream.column(map, 0, kBegin);
  EXPECT_EQ(sent.at("names").at(0).at("name"), "n");
  EXPECT_EQ(sent.at("mean"), "ZGTI");
  EXPECT_EQ(sent.at("writes"), "Ag==") << "of the first row only";
  EXPECT_EQ(sent.at("hits"), "MjI=");
}

}  // namespace
}  // namespace heatsink::heat
