// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/parse_heatmap.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "heatsink/heat/heatmap_json.h"

namespace heatsink::heat {
namespace {

using std::chrono::seconds;

HeatMap two_steps_of_a_cluster() {
  HeatMap map;
  map.step = seconds(10);
  map.window = seconds(10);
  for (int i = 0; i < 2; ++i) {
    HeatMap::Step step;
    step.begin = TimePoint(seconds(1'800'000'000 + 10 * i));
    step.number = 180 + i;
    step.totals = {100, 90, 10, 45, NAN, 30, NAN, 0.25F, 70, 5000, 0.5F, -0.25F, 30};
    step.requests_max = 200;
    step.unnamed_max = {1.5F, NAN, 3, 0};
    map.steps.push_back(step);
  }
  map.rows.push_back(
      {{Kind::kKey, 3, true, "user:\xff"}, {100, 0}, {120, 0}, {2, 0}, {50, 0}, {7, 0}});
  map.rows.push_back({{Kind::kSlot, 0, false, "12182"}, {9, 9}, {9, 9}, {0, 0}, {0, 0}, {0, 0}});
  return map;
}

std::string text_of(const HeatMap& map) {
  return heatmap_json(map, [](TimePoint at) {
    return WallTime(std::chrono::duration_cast<WallTime::duration>(at.time_since_epoch()));
  });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ParseHeatmap, ReadsWhatWasWritten) {
  const HeatMap map = two_steps_of_a_cluster();
  const Result<HeatMap> read = parse_heatmap(text_of(map));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->step, map.step);
  EXPECT_EQ(read->window, map.window);
  ASSERT_EQ(read->steps.size(), 2U);
  EXPECT_EQ(read->steps[1].begin, map.steps[1].begin);
  EXPECT_EQ(read->steps[1].number, 181);
  EXPECT_EQ(read->steps[1].totals[8], 70);
  EXPECT_TRUE(std::isnan(read->steps[1].totals[4])) << "not known stays not known";
  EXPECT_EQ(read->steps[0].unnamed_max[2], 3);
  ASSERT_EQ(read->rows.size(), 2U);
  EXPECT_EQ(read->rows[0].identity, map.rows[0].identity) << "the exact bytes";
  EXPECT_EQ(read->rows[0].mean, map.rows[0].mean);
  EXPECT_EQ(read->rows[0].hits, map.rows[0].hits);
  EXPECT_EQ(read->rows[0].bytes, map.rows[0].bytes);
  EXPECT_EQ(read->steps[1].totals[kServerCpuSparedAt], -0.25F);
  EXPECT_EQ(read->rows[1].identity.kind, Kind::kSlot);
}

TEST(ParseHeatmap, AnOlderProxyHasFewerTotalsAndANewerOneMoreKinds) {
  std::string text = text_of(two_steps_of_a_cluster());
  text = replaced(text, "\"node_commands\"", "\"other\"");
  text = replaced(text, "\"kind\":\"slot\"", "\"kind\":\"planet\"");
  text = replaced(text, "\"bytes\":\"BwA=\"", "\"colour\":7");
  const Result<HeatMap> read = parse_heatmap(text);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(std::isnan(read->steps[0].totals[8]));
  ASSERT_EQ(read->rows.size(), 1U);
  EXPECT_EQ(read->rows[0].bytes, (std::vector<RateCode>{0, 0}));
}

TEST(ParseHeatmap, NamesTheMemberThatIsWrong) {
  const std::string text = text_of(two_steps_of_a_cluster());
  const auto fault = [](const std::string& wrong) {
    const Result<HeatMap> read = parse_heatmap(wrong);
    EXPECT_FALSE(read.ok());
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_NE(fault("[]").find("no JSON object"), std::string::npos);
  EXPECT_NE(fault(replaced(text, "\"rows\"", "\"lines\"")).find("\"rows\" must be an array"),
            std::string::npos);
  EXPECT_NE(fault(replaced(text, "[180,181]", "[180]")).find("\"numbers\""), std::string::npos);
  EXPECT_NE(fault(replaced(text, "\"mean\":\"ZAA=\"", "\"mean\":\"ZA==\"")).find("\"mean\""),
            std::string::npos);
  EXPECT_NE(fault(replaced(text, "\"db\":3", "\"db\":\"3\"")).find("\"db\""), std::string::npos);
  EXPECT_NE(fault(std::string(kHeatmapBytesMax + 1, ' ')).find("too long"), std::string::npos);
}

}  // namespace
}  // namespace heatsink::heat
