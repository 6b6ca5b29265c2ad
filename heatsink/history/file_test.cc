// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "heatsink/history/folder_for_test.h"
#include "heatsink/history/schema.h"
#include "heatsink/history/tiers.h"

namespace heatsink::history {
namespace {

std::unique_ptr<HistoryFile> opened(const FileOptions& options) {
  Failure why;
  Result<std::unique_ptr<HistoryFile>> file = HistoryFile::open(options, why);
  EXPECT_TRUE(file.ok()) << why.message;
  return file.ok() ? std::move(file).value() : nullptr;
}

double number(const std::string& path, const std::string& sql) {
  Database database(path, Database::Access::kRead);
  Statement statement(database, sql.c_str());
  const double out = statement.bind().step() ? statement.real(0) : -1;
  EXPECT_TRUE(database.ok()) << database.failure().message;
  return out;
}

// `count` seconds with the same key, in one batch.
std::vector<Record> seconds_from(std::int64_t first, std::int64_t count, double rate = 1000) {
  std::vector<Record> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(counts_of(first + i, {{"a", rate}}));
  return out;
}

TEST(HistoryFile, SecondsAndEventsCanBeReadBySql) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  const auto file = opened({.path = path});
  const std::vector<Record> records{
      counts_of(kStart, {{"a", 1000}, {"b", 10}}),
      KeptEvent{.at = at_second(kStart),
                .what = "hot",
                .has_key = true,
                .name = "a",
                .before = "warm",
                .rate = 1000,
                .share = 0.99,
                .reason = "1000/s >= hot-qps 100"},
      KeptEvent{.at = at_second(kStart), .what = "nothing-hot", .reason = "no key"}};
  EXPECT_FALSE(file->append(records, at_second(kStart + 1)));
  EXPECT_EQ(number(path, "SELECT requests_per_second FROM totals"), 1010);
  EXPECT_NEAR(number(path, "SELECT requests_per_second FROM hot_keys WHERE name = 'a'"), 1000, 30);
  EXPECT_EQ(number(path, "SELECT count(*) FROM hot_keys WHERE time = '2026-11-28T12:00:00Z'"), 2);
  EXPECT_EQ(number(path,
                   "SELECT count(*) FROM events WHERE event = 'hot' AND name = 'a' AND "
                   "before = 'warm' AND share > 0.9"),
            1);
  EXPECT_EQ(number(path, "SELECT count(*) FROM events WHERE name IS NULL"), 1);
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0640U) << "names of keys are not for everybody";
}

TEST(HistoryFile, StepsThatAreOverBecomeCoarserOnes) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  const auto file = opened({.path = path});
  EXPECT_FALSE(file->append(seconds_from(kStart, 75), at_second(kStart + 75)));
  EXPECT_EQ(number(path, "SELECT count(*) FROM totals WHERE step_seconds = 10"), 7);
  EXPECT_EQ(number(path, "SELECT counted_seconds FROM totals WHERE step_seconds = 60"), 60);
  EXPECT_EQ(number(path, "SELECT count(*) FROM totals WHERE step_seconds = 600"), 0);
  EXPECT_NEAR(number(path, "SELECT requests_per_second FROM hot_keys WHERE step_seconds = 60"),
              1000, 30);
}

TEST(HistoryFile, WhatAKilledProcessLeftIsRolledUpByTheNext) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  EXPECT_FALSE(opened({.path = path})->append(seconds_from(kStart, 7), at_second(kStart + 7)));
  EXPECT_EQ(number(path, "SELECT count(*) FROM totals WHERE step_seconds = 10"), 0);
  EXPECT_FALSE(
      opened({.path = path})->append(seconds_from(kStart + 7000, 1), at_second(kStart + 7001)));
  for (const char* const step : {"10", "60", "600", "3600"})
    EXPECT_EQ(number(path, std::string("SELECT sum(counted_seconds) FROM totals WHERE "
                                       "step_seconds = ") +
                               step),
              7)
        << step;
}

TEST(HistoryFile, ACloseOfOneWriterLetsTheNextOneIn) {
  const Folder folder;
  const FileOptions options{.path = folder.path("h.db")};
  auto first = opened(options);
  Failure why;
  EXPECT_FALSE(HistoryFile::open(options, why).ok());
  EXPECT_EQ(why.kind, FailureKind::kBusy);
  first.reset();
  EXPECT_TRUE(HistoryFile::open(options, why).ok());
}

TEST(HistoryFile, TiersEndByAge) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  const auto file = opened({.path = path});
  EXPECT_FALSE(file->append(seconds_from(kStart, 60), at_second(kStart + 60)));
  EXPECT_FALSE(file->append(seconds_from(kStart + 7200, 1), at_second(kStart + 7201)));
  EXPECT_FALSE(file->trim(at_second(kStart + 7201)));
  EXPECT_EQ(number(path, "SELECT count(*) FROM totals WHERE step_seconds = 1"), 1);
  EXPECT_EQ(number(path, "SELECT count(*) FROM totals WHERE step_seconds = 10"), 6);
  const std::int64_t later = kStart + 91 * 86'400;
  EXPECT_FALSE(file->append(seconds_from(later, 1), at_second(later + 1)));
  EXPECT_FALSE(file->trim(at_second(later + 1), std::chrono::hours(100 * 24)));
  EXPECT_EQ(number(path, "SELECT count(*) FROM totals WHERE unix < " + std::to_string(later)), 0);
  EXPECT_EQ(number(path, "SELECT count(*) FROM cells"), 1);
}

TEST(HistoryFile, AClockThatIsAYearAheadForSomeTimeCostsLittle) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  constexpr std::int64_t kYear = 365 * 86'400;
  auto file = opened({.path = path});
  EXPECT_FALSE(file->append(seconds_from(kStart, 60), at_second(kStart + 60)));
  EXPECT_FALSE(file->trim(at_second(kStart + 60)));
  EXPECT_FALSE(file->append(seconds_from(kStart + kYear, 1), at_second(kStart + kYear + 1)));
  const auto seconds = [&path] {
    return number(path, "SELECT count(*) FROM totals WHERE step_seconds = 1 AND unix < " +
                            std::to_string(kStart + kYear));
  };
  for (int minute = 0; minute < 3; ++minute)
    EXPECT_FALSE(file->trim(at_second(kStart + kYear + 60 * minute)));
  EXPECT_EQ(seconds(), 60);
  file.reset();  // neither does a new process believe it
  file = opened({.path = path});
  EXPECT_FALSE(file->trim(at_second(kStart + kYear + 300)));
  EXPECT_EQ(seconds(), 60);
  EXPECT_FALSE(file->append(seconds_from(kStart + 400, 1), at_second(kStart + 401)));
  EXPECT_FALSE(file->trim(at_second(kStart + 401)));
  EXPECT_EQ(seconds(), 61);
  EXPECT_FALSE(file->trim(at_second(kStart + 3700), std::chrono::hours(2)));
  EXPECT_EQ(seconds(), 1) << "time goes on as ever";
}

TEST(HistoryFile, AfterALongStopTheOldPartGoesStepByStep) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  EXPECT_FALSE(opened({.path = path})->append(seconds_from(kStart, 1), at_second(kStart + 1)));
  constexpr std::int64_t kLater = kStart + 2 * 86'400;
  const auto file = opened({.path = path});
  EXPECT_FALSE(file->append(seconds_from(kLater, 1), at_second(kLater + 1)));
  const auto old = [&path] {
    return number(path, "SELECT count(*) FROM totals WHERE step_seconds = 1 AND unix < " +
                            std::to_string(kLater));
  };
  for (int minute = 0; minute < 5; ++minute) EXPECT_FALSE(file->trim(at_second(kLater + 1)));
  EXPECT_EQ(old(), 1);
  for (int minute = 0; minute < 5; ++minute) EXPECT_FALSE(file->trim(at_second(kLater + 1)));
  EXPECT_EQ(old(), 0);
}

TEST(HistoryFile, StaysWithinItsSizeWhateverTheNamesAre) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  const Bytes limit = mebibytes(1);
  const auto file = opened({.path = path, .maximum_size = limit});
  std::int64_t failures = 0;
  for (std::int64_t minute = 0; minute < 40; ++minute) {
    std::vector<Record> batch;
    for (std::int64_t second = minute * 60; second < minute * 60 + 60; ++second) {
      std::vector<std::pair<std::string, double>> keys;
      for (int key = 0; key < 10; ++key)
        keys.emplace_back(std::string(100, 'x') + std::to_string(second * 10 + key), 10);
      batch.push_back(counts_of(kStart + second, keys));
    }
    const WallTime now = at_second(kStart + minute * 60 + 60);
    if (file->append(batch, now)) {
      ++failures;
      EXPECT_FALSE(file->make_room(now));
    }
    EXPECT_FALSE(file->trim(now));
    struct stat found {};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_LE(found.st_size, static_cast<std::int64_t>(limit.count));
  }
  EXPECT_LT(failures, 20);
  EXPECT_GT(number(path, "SELECT max(unix) FROM totals WHERE step_seconds = 1"), kStart + 1800.0)
      << "the newest are kept";
}

TEST(HistoryFile, NamesThatNoCellHasAreRemoved) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  const auto file = opened({.path = path, .maximum_age = std::chrono::seconds(60)});
  EXPECT_FALSE(file->append(std::vector{counts_of(kStart, {{"old", 5}})}, at_second(kStart + 1)));
  EXPECT_FALSE(
      file->append(std::vector{counts_of(kStart + 100, {{"new", 5}})}, at_second(kStart + 101)));
  EXPECT_FALSE(file->trim(at_second(kStart + 101)));
  EXPECT_EQ(number(path, "SELECT count(*) FROM names"), 1);
  EXPECT_FALSE(
      file->append(std::vector{counts_of(kStart + 102, {{"old", 5}})}, at_second(kStart + 103)));
  EXPECT_EQ(number(path, "SELECT count(*) FROM hot_keys WHERE name = 'old'"), 1)
      << "its number was forgotten with it";
}

TEST(HistoryFile, ADamagedFileIsNoticedWhenItIsOpened) {
  const Folder folder;
  const FileOptions options{.path = folder.path("h.db")};
  EXPECT_FALSE(opened(options)->append(seconds_from(kStart, 600), at_second(kStart + 600)));
  {
    std::fstream bytes(options.path, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(3 * 4096);
    bytes << std::string(8192, '\x5a');
  }
  Failure why;
  EXPECT_FALSE(HistoryFile::open(options, why).ok());
  EXPECT_EQ(why.kind, FailureKind::kDamaged) << why.message;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void damage(const std::string& path, std::streamoff from) {
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(from);
  bytes << std::string(2000, '\x5a');
}

void expect_left_alone(const std::string& path, const std::string& why) {
  const std::string before = bytes_of(path);
  ASSERT_FALSE(before.empty());
  Failure failure;
  EXPECT_FALSE(HistoryFile::open({.path = path}, failure).ok()) << path;
  EXPECT_EQ(failure.kind, FailureKind::kForeign) << path << ": " << failure.message;
  EXPECT_EQ(failure.message, why);
  EXPECT_TRUE(bytes_of(path) == before) << path << " was changed";
}

TEST(HistoryFile, WhatIsNoHistoryIsNotChanged) {
  const Folder folder;
  const auto make = [&folder](const char* name, const std::string& sql) {
    Database database(folder.path(name), Database::Access::kWrite);
    database.run(sql.c_str());
    EXPECT_TRUE(database.ok()) << database.failure().message;
    return folder.path(name);
  };
  const std::string foreign = "it is no history of heatsink";
  std::ofstream(folder.path("short")) << "x";
  expect_left_alone(folder.path("short"), foreign);
  std::ofstream(folder.path("text")) << std::string(10'000, 'x');
  expect_left_alone(folder.path("text"), foreign);
  const std::string table = "CREATE TABLE customers (name)";
  expect_left_alone(make("named", "PRAGMA application_id = 7"), foreign);
  expect_left_alone(make("table", table), foreign);
  expect_left_alone(make("empty", "PRAGMA user_version = 7; VACUUM"), foreign);
  damage(make("damaged", table), 100);
  expect_left_alone(folder.path("damaged"), foreign);
  const std::string ours = "PRAGMA application_id = " + std::to_string(kApplicationId);
  expect_left_alone(make("newer", ours + "; PRAGMA user_version = 99"),
                    "a newer heatsink has written it");
}

TEST(HistoryFile, ADatabaseOfNobodyIsUsed) {
  const Folder folder;
  const FileOptions options{.path = folder.path("h.db")};
  std::ofstream(options.path).flush();
  EXPECT_FALSE(opened(options)->append(seconds_from(kStart, 1), at_second(kStart + 1)));
  EXPECT_EQ(number(options.path, "SELECT count(*) FROM totals"), 1);
}

// SQLite would undo the change of a program that was killed, and so write its file.
TEST(HistoryFile, TheUnfinishedChangeOfAnotherProgramIsNotUndone) {
  const Folder folder;
  const std::string path = folder.path("customers.db");
  {
    Database database(path, Database::Access::kWrite);
    database.run(
        "CREATE TABLE customers (name); INSERT INTO customers VALUES ('a');"
        "PRAGMA cache_size = 1; BEGIN");
    database.run(("INSERT INTO customers VALUES (zeroblob(1000000))"));
    std::filesystem::copy_file(path, folder.path("killed.db"));
    std::filesystem::copy_file(path + "-journal", folder.path("killed.db-journal"));
    EXPECT_TRUE(database.ok()) << database.failure().message;
  }
  const std::string journal = bytes_of(folder.path("killed.db-journal"));
  ASSERT_GT(journal.size(), 512U);
  expect_left_alone(folder.path("killed.db"), "it is no history of heatsink");
  EXPECT_TRUE(bytes_of(folder.path("killed.db-journal")) == journal);
}

TEST(HistoryFile, AFileThatWasBeingMadeIsMadeAnew) {
  const Folder folder;
  const FileOptions options{.path = folder.path("h.db")};
  {
    Database database(folder.path("made.db"), Database::Access::kWrite);
    database.run(
        "PRAGMA cache_size = 1; BEGIN; CREATE TABLE steps (a);"
        "INSERT INTO steps VALUES (zeroblob(1000000))");
    std::filesystem::copy_file(folder.path("made.db"), options.path);
    std::filesystem::copy_file(folder.path("made.db-journal"), options.path + "-journal");
    EXPECT_TRUE(database.ok()) << database.failure().message;
  }
  ASSERT_FALSE(bytes_of(options.path).empty());
  EXPECT_FALSE(opened(options)->append(seconds_from(kStart, 1), at_second(kStart + 1)));
  EXPECT_EQ(number(options.path, "SELECT count(*) FROM totals"), 1);
}

TEST(HistoryFile, ADamagedBeginningIsNoticed) {
  const Folder folder;
  const FileOptions options{.path = folder.path("h.db")};
  EXPECT_FALSE(opened(options)->append(seconds_from(kStart, 1), at_second(kStart + 1)));
  damage(options.path, 100);
  Failure why;
  EXPECT_FALSE(HistoryFile::open(options, why).ok());
  EXPECT_EQ(why.kind, FailureKind::kDamaged) << why.message;
}

TEST(HistoryFile, KnowsWhenItWasMovedAway) {
  const Folder folder;
  const FileOptions options{.path = folder.path("h.db")};
  const auto file = opened(options);
  EXPECT_TRUE(file->is_in_place());
  std::filesystem::rename(options.path, options.path + ".old");
  EXPECT_FALSE(file->is_in_place());
  std::ofstream(options.path) << "another one";
  EXPECT_FALSE(file->is_in_place());
}

}  // namespace
}  // namespace heatsink::history
