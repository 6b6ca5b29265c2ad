// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "heatsink/heat/history.h"
#include "heatsink/heat/scale.h"
#include "heatsink/history/file.h"
#include "heatsink/history/folder_for_test.h"

namespace heatsink::history {
namespace {

class HistoryReader : public testing::Test {
 protected:
  HistoryReader() {
    Failure why;
    file_ = HistoryFile::open({.path = path_}, why).value();
  }

  void add(std::int64_t from, std::int64_t count,
           const std::vector<std::pair<std::string, double>>& keys) {
    std::vector<Record> batch;
    for (std::int64_t i = 0; i < count; ++i) batch.push_back(counts_of(kStart + from + i, keys));
    ASSERT_FALSE(file_->append(batch, at_second(kStart + from + count)));
  }

  heat::HeatMap read(std::int64_t from, std::int64_t to, Range how = {}) {
    how.from = at_second(kStart + from);
    how.to = at_second(kStart + to);
    Result<heat::HeatMap> map = read_heat(path_, how);
    EXPECT_TRUE(map.ok());
    return map.ok() ? *map : heat::HeatMap{};
  }

  const Folder folder_;
  const std::string path_ = folder_.path("h.db");
  std::unique_ptr<HistoryFile> file_;
};

TEST_F(HistoryReader, GivesSecondsWithTheirNames) {
  add(0, 3, {{"a", 1000}, {std::string("b\0\xff", 3), 10}});
  const heat::HeatMap map = read(0, 10);
  EXPECT_EQ(map.source, heat::HeatMap::Source::kFile);
  EXPECT_EQ(map.step, std::chrono::seconds(1));
  EXPECT_EQ(map.window, std::chrono::seconds(10));
  ASSERT_EQ(map.steps.size(), 3U);
  EXPECT_EQ(map.steps[0].begin, TimePoint(std::chrono::seconds(kStart)));
  EXPECT_EQ(map.steps[0].number, kStart);
  EXPECT_EQ(map.steps[0].totals[0], 1010);
  EXPECT_TRUE(std::isnan(map.steps[0].totals[4])) << "not known stays not known";
  ASSERT_EQ(map.rows.size(), 2U);
  EXPECT_EQ(map.rows[0].identity.name, "a");
  EXPECT_EQ(map.rows[1].identity.name, std::string("b\0\xff", 3)) << "the exact bytes";
  EXPECT_NEAR(heat::rate_of(map.rows[0].hits[2]), 500, 15);
}

TEST_F(HistoryReader, AStepThatIsNotOverIsMadeOfFinerOnes) {
  add(0, 95, {{"a", 1000}});
  const heat::HeatMap map = read(0, 200, {.step_s = 60});
  ASSERT_EQ(map.steps.size(), 2U);
  EXPECT_EQ(map.steps[1].begin, TimePoint(std::chrono::seconds(kStart + 60)));
  EXPECT_NEAR(heat::rate_of(map.rows[0].mean[1]), 1000, 30) << "of the 35 seconds that it has";
}

TEST_F(HistoryReader, TakesTheFinestStepThatReachesBack) {
  add(0, 60, {{"a", 10}});
  add(7200, 60, {{"a", 10}});
  ASSERT_FALSE(file_->trim(at_second(kStart + 7260)));
  EXPECT_EQ(read(7200, 7260).step, std::chrono::seconds(1));
  EXPECT_EQ(read(0, 7260).step, std::chrono::seconds(10)) << "seconds are kept for an hour";
  EXPECT_EQ(read(0, 86'400).step, std::chrono::seconds(60)) << "1440 steps at most";
  EXPECT_EQ(read(-30 * 86'400, 7260).step, std::chrono::seconds(3600));
  EXPECT_EQ(read(-90 * 86'400, 7260).step, std::chrono::seconds(7200));
}

TEST_F(HistoryReader, AYoungFileHasFineSteps) {
  add(5, 2, {{"a", 10}});
  EXPECT_EQ(read(-3600, 10).step, std::chrono::seconds(10)) << "although no 10 s are over yet";
  EXPECT_EQ(read(-3600, 10).steps.size(), 1U);
  add(7, 20, {{"a", 10}});
  EXPECT_EQ(read(-60, 30).step, std::chrono::seconds(1)) << "10 s that are over begin no earlier";
}

TEST_F(HistoryReader, GoesOnAfterAStep) {
  add(0, 40, {{"a", 10}});
  const heat::HeatMap map = read(0, 100, {.step_s = 10, .after = kStart / 10 + 1});
  ASSERT_EQ(map.steps.size(), 2U);
  EXPECT_EQ(map.steps[0].number, kStart / 10 + 2);
}

TEST_F(HistoryReader, OfAGivenStepTheLatestAreRead) {
  constexpr auto kMax = static_cast<std::int64_t>(heat::History::kStepsMax);
  add(0, kMax + 60, {{"a", 10}});
  heat::HeatMap map = read(0, 86'400, {.step_s = 1});
  ASSERT_EQ(map.steps.size(), heat::History::kStepsMax);
  EXPECT_EQ(map.steps.back().number, kStart + kMax + 59);
  map = read(0, kMax + 9, {.step_s = 1});
  ASSERT_EQ(map.steps.size(), heat::History::kStepsMax);
  EXPECT_EQ(map.steps.back().number, kStart + kMax + 9) << "of the range";
}

TEST_F(HistoryReader, OneKeyAmongMany) {
  add(0, 5, {{"a", 1000}, {"b", 10}});
  const heat::HeatMap map = read(0, 10, {.key = "b"});
  ASSERT_EQ(map.rows.size(), 1U);
  EXPECT_EQ(map.rows[0].identity.name, "b");
  EXPECT_EQ(map.steps[0].totals[0], 1010) << "the totals are of all";
  EXPECT_TRUE(read(0, 10, {.key = "none"}).rows.empty());
  EXPECT_TRUE(read(0, 10, {.key = "b", .db = 3}).rows.empty());
}

TEST_F(HistoryReader, EventsOfATimeAndOfAKey) {
  std::vector<Record> events;
  for (int i = 0; i < 5; ++i) {
    events.emplace_back(KeptEvent{.at = at_second(kStart + i),
                                  .what = "hot",
                                  .has_key = true,
                                  .name = i % 2 == 0 ? "a" : "b",
                                  .before = "warm",
                                  .reason = std::to_string(i)});
  }
  ASSERT_FALSE(file_->append(events, at_second(kStart + 5)));
  Range range{.from = at_second(kStart + 1), .to = at_second(kStart + 4)};
  const auto all = read_events(path_, range);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 4U);
  EXPECT_EQ(all->front().reason, "1");
  range.key = "a";
  EXPECT_EQ(read_events(path_, range)->size(), 2U);
  EXPECT_EQ(read_events(path_, range, 1)->front().reason, "4") << "the latest are kept";
}

TEST_F(HistoryReader, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(read_heat(folder_.path("none"), {}).error().code, ErrorCode::kNotFound);
  std::ofstream(folder_.path("text")) << std::string(5000, 'x');
  EXPECT_NE(read_heat(folder_.path("text"), {}).error().message.find("not a database"),
            std::string::npos);
  std::ofstream(folder_.path("empty")).flush();
  EXPECT_NE(read_heat(folder_.path("empty"), {}).error().message.find("not a history"),
            std::string::npos);
}

TEST_F(HistoryReader, SaysWhichTimeItHas) {
  EXPECT_FALSE(read_kept(path_)->has_value());
  add(0, 5, {{"a", 10}});
  EXPECT_EQ((*read_kept(path_))->from, at_second(kStart));
  EXPECT_EQ((*read_kept(path_))->to, at_second(kStart + 5));
  Database(path_, Database::Access::kWrite)
      .run(
          "UPDATE steps SET begin_s = 1000000000000000 WHERE begin_s = (SELECT max(begin_s) FROM "
          "steps)");
  EXPECT_EQ((*read_kept(path_))->to, at_second(9'200'000'000)) << "the last time there is";
}

}  // namespace
}  // namespace heatsink::history
