// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <tuple>

#include "heatsink/heat/history.h"
#include "heatsink/heat/scale.h"
#include "heatsink/history/file.h"
#include "heatsink/history/folder_for_test.h"
#include "heatsink/history/schema.h"

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

// The counts of a second in front of a cluster.
Record cluster_second(std::int64_t second) {
  Record record = counts_of(second, {{"a", 1000}});
  heat::Moment& moment = std::get<Second>(record).moment;
  moment.totals.node_commands = 1000;
  for (const auto& [kind, name, rate] :
       {std::tuple(heat::Kind::kSlot, "15495", 750), std::tuple(heat::Kind::kNode, "n:1", 900)}) {
    heat::Item& item = moment.items.emplace_back();
    item.identity.kind = kind;
    item.identity.name = name;
    item.rate = rate;
    moment.unnamed_max[static_cast<std::size_t>(kind)] = 7;
  }
  return record;
}

TEST_F(HistoryReader, SlotsAndNodesAreKeptInAllTiers) {
  std::vector<Record> batch;
  for (std::int64_t i = 0; i < 20; ++i) batch.push_back(cluster_second(kStart + i));
  ASSERT_FALSE(file_->append(batch, at_second(kStart + 20)));
  for (const std::int64_t step_s : {1, 10}) {
    const heat::HeatMap map = read(0, 20, {.step_s = step_s});
    ASSERT_EQ(map.rows.size(), 3U);
    EXPECT_EQ(map.rows[1].identity, (heat::Identity{heat::Kind::kNode, 0, false, "n:1"}));
    EXPECT_EQ(map.rows[2].identity, (heat::Identity{heat::Kind::kSlot, 0, false, "15495"}));
    EXPECT_NEAR(heat::rate_of(map.rows[1].mean[0]), 900, 30);
    EXPECT_EQ(map.steps[0].totals[8], 1000);
    EXPECT_EQ(map.steps[0].unnamed_max[2], 7);
    EXPECT_EQ(map.steps[0].unnamed_max[3], 7);
    EXPECT_TRUE(std::isnan(map.steps[0].unnamed_max[1])) << "no templates";
  }
  Database database(path_, Database::Access::kRead);
  EXPECT_EQ(database.number("SELECT slot FROM busy_slots WHERE share BETWEEN 0.7 AND 0.8"), 15495);
  EXPECT_EQ(database.text("SELECT node FROM busy_nodes WHERE commands_per_second > 870"), "n:1");
  EXPECT_TRUE(database.ok());
}

TEST_F(HistoryReader, BytesCpuTimeAndClientsAreKept) {
  std::vector<Record> batch;
  for (std::int64_t i = 0; i < 12; ++i) {
    Second second = std::get<Second>(counts_of(kStart + i, {{"a", 1000}, {"b", 500}}));
    second.moment.items[0].bytes = 4'096'000;
    second.moment.items.push_back(
        {.identity = {.kind = heat::Kind::kClient, .name = "10.0.0.7"}, .rate = 1200});
    second.moment.totals.bytes = 5'000'000;
    second.moment.totals.server_cpu = 0.25;
    second.moment.totals.server_cpu_spared = 0.75;
    second.moment.totals.client_commands = 1500;
    second.moment.unnamed_max[4] = 300;
    batch.emplace_back(std::move(second));
  }
  ASSERT_FALSE(file_->append(batch, at_second(kStart + 30)));
  for (const std::int64_t step_s : {1, 10}) {
    const heat::HeatMap map = read(0, 9, {.step_s = step_s});
    ASSERT_EQ(map.rows.size(), 3U);
    EXPECT_EQ(map.rows[0].identity.kind, heat::Kind::kClient);
    EXPECT_NEAR(heat::bytes_of(map.rows[1].bytes[0]), 4'096'000, 0.09 * 4'096'000);
    EXPECT_EQ(map.steps[0].totals[heat::kServerCpuSparedAt], 0.75F);
    EXPECT_EQ(map.steps[0].unnamed_max[4], 300);
  }
  const heat::HeatMap clients = read(0, 9, {.kind = heat::Kind::kClient});
  ASSERT_EQ(clients.rows.size(), 1U) << "all of its rows may be of one kind";
  EXPECT_EQ(clients.rows[0].identity.name, "10.0.0.7");
  Database database(path_, Database::Access::kRead);
  EXPECT_EQ(database.text("SELECT client FROM busy_clients WHERE share BETWEEN 0.75 AND 0.85"),
            "10.0.0.7");
  // Two thirds of the hits.
  EXPECT_EQ(database.number("SELECT count(*) FROM hot_keys WHERE name = 'a' AND step_seconds = 1 "
                            "AND server_cpu_spared_cores BETWEEN 0.48 AND 0.52 "
                            "AND bytes_per_second BETWEEN 3970000 AND 4220000"),
            12);
  EXPECT_EQ(database.number("SELECT count(*) FROM totals WHERE server_cpu_spared_cores = 0.75 "
                            "AND bytes_per_second = 5000000 AND step_seconds = 1"),
            12);
  EXPECT_TRUE(database.ok());
}

TEST_F(HistoryReader, AFileOfTheFirstVersionIsReadAsItIsAndWrittenOn) {
  const std::string path = folder_.path("old.db");
  {
    Database old(path, Database::Access::kWrite);
    ASSERT_EQ(prepare(old, migrations().first(1)), FileState::kCurrent);
    old.run(
        "INSERT INTO steps (step_s, begin_s, counted_s, window_s, requests, requests_max, "
        "unnamed_key_max) VALUES (1, 1795867200, 1, 10, 500, 500, 3);"
        "INSERT INTO names VALUES (1, 0, 0, 0, 'a'), (2, 1, 0, 0, 'a*');"
        "INSERT INTO cells VALUES (1, 1, 100, 100, 0, 0), (1, 2, 90, 90, 0, 0)");
    ASSERT_TRUE(old.ok());
  }
  const auto check = [&](std::size_t steps) {
    const Result<heat::HeatMap> map =
        read_heat(path, {.from = at_second(kStart), .to = at_second(kStart + 10)});
    ASSERT_TRUE(map.ok()) << map.error().message;
    ASSERT_EQ(map->steps.size(), steps);
    EXPECT_EQ(map->steps[0].requests_max, 500);
    EXPECT_EQ(map->steps[0].unnamed_max[0], 3);
    EXPECT_TRUE(std::isnan(map->steps[0].totals[8]));
    EXPECT_TRUE(std::isnan(map->steps[0].unnamed_max[2]));
    EXPECT_TRUE(std::isnan(map->steps[0].totals[heat::kBytesAt])) << "not known, and not 0";
    EXPECT_EQ(map->rows[0].bytes[0], 0);
    EXPECT_EQ(map->rows[0].identity.name, "a");
  };
  check(1);
  Failure why;
  auto file = HistoryFile::open({.path = path}, why).value();
  ASSERT_FALSE(file->append(std::vector{cluster_second(kStart + 1)}, at_second(kStart + 2)));
  check(2);
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

TEST_F(HistoryReader, AddsUpWhatEachKeyHad) {
  add(0, 10, {{"a", 1000}, {std::string("b\0\xff", 3), 10}});
  const Result<heat::Sums> sums =
      read_sums(path_, {.from = at_second(kStart), .to = at_second(kStart + 20)});
  ASSERT_TRUE(sums.ok());
  EXPECT_EQ(sums->seconds, 10);
  EXPECT_EQ(sums->requests, 10'100);
  EXPECT_EQ(sums->from, TimePoint(std::chrono::seconds(kStart)));
  EXPECT_EQ(sums->to, TimePoint(std::chrono::seconds(kStart + 10)));
  ASSERT_EQ(sums->keys.size(), 2U);
  EXPECT_NEAR(sums->keys[0].requests, 10'000, 300);
  EXPECT_EQ(sums->keys[1].identity.name, std::string("b\0\xff", 3));
  EXPECT_FALSE(read_sums(folder_.path("none"), {}).ok());
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
