// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/csv.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

TEST(TopCsv, AHeaderAndALinePerRow) {
  HotkeysView view = sample_answer();
  view.keys.resize(1);
  EXPECT_EQ(csv_header(),
            "time,key,keys,db,verdict,rate,rate_low,rate_high,share,reads_rate,writes_rate,"
            "hits_rate,misses_rate,bytes_rate,hit_ratio,cached,age_seconds,dimension,"
            "window_seconds,rule,node,slot,reason,latency_mean_seconds,latency_p99_seconds\r\n");
  EXPECT_EQ(
      csv_block(rows_of(view, {}), "T"),
      "T,product:1000:price,1,0,hot,21000,20988,21000,0.498694,20790,210,20580,210,"
      "2.52e+06,0.989899,true,192,requests,10,,,14253,above the threshold of this node,,\r\n");
}

TEST(TopCsv, CommasAndQuotesAreQuoted) {
  HotkeysView view;
  view.keys = {sample_key("a,\\\"b\\\"", 1, "hot")};
  EXPECT_TRUE(csv_block(rows_of(view, {}), "T").starts_with("T,\"a,\\\"\"b\\\"\"\",1,"))
      << csv_block(rows_of(view, {}), "T");
}

TEST(TopCsv, FormulasAreTextForSpreadsheetsThatAskForIt) {
  HotkeysView view;
  for (const std::string name : {"=1+1", "+1", "-1", "@SUM(A1)", "a=1", "'=1"}) {
    view.keys = {sample_key(name, 1, "hot")};
    const bool is_formula = std::string_view("=+-@").find(name[0]) != std::string_view::npos;
    EXPECT_TRUE(csv_block(rows_of(view, {}), "T").starts_with("T," + name + ",")) << name;
    EXPECT_TRUE(csv_block(rows_of(view, {}), "T", CsvText::kDefused)
                    .starts_with("T," + std::string(is_formula ? "'" : "") + name + ","))
        << name;
  }
}

TEST(TopCsv, LatenciesStandAtTheEnd) {
  HotkeysView view;
  view.keys = {sample_key("k", 1, "hot")};
  view.keys[0].latency_mean = std::chrono::microseconds(150);
  view.keys[0].latency_p99 = Millis(2);
  EXPECT_TRUE(csv_block(rows_of(view, {}), "T").ends_with(",0.00015,0.002\r\n"));
}

TEST(TopCsv, EachLineHasAsManyFieldsAsTheHeader) {
  HotkeysView view = sample_answer();
  view.keys[0].rate = view.keys[0].bytes_rate = kUnknown;
  const auto commas = [](const std::string& line) { return std::ranges::count(line, ','); };
  for (std::string block = csv_block(rows_of(view, {}), "T"); !block.empty();) {
    const std::size_t end = block.find("\r\n");
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(commas(block.substr(0, end)), commas(csv_header())) << block.substr(0, end);
    block.erase(0, end + 2);
  }
}

TEST(TopCsv, NoLineEndOrControlComesFromAName) {
  HotkeysView view;
  view.keys = {sample_key("k", 1, "hot")};
  view.keys[0].name = view.keys[0].reason = view.keys[0].rule = "a\r\nb\x1b[2J";
  const std::string block = csv_block(rows_of(view, {}), "T");
  EXPECT_EQ(std::ranges::count(block, '\n'), 1);
  EXPECT_EQ(std::ranges::count(block, '\x1b'), 0);
}

TEST(TopCsv, TimeIsUtcWithMilliseconds) {
  EXPECT_EQ(csv_time(std::chrono::system_clock::time_point(std::chrono::seconds(1'795'262'400)) +
                     Millis(45)),
            "2026-11-21T12:00:00.045Z");
}

}  // namespace
}  // namespace heatsink::app
