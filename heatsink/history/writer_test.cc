// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/writer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <mutex>

#include "heatsink/base/log.h"
#include "heatsink/history/folder_for_test.h"
#include "heatsink/history/reader.h"

namespace heatsink::history {
namespace {

constexpr Nanos kLimit = std::chrono::seconds(20);

// Collects the log while it exists.
class Lines {
 public:
  Lines() {
    set_log_sink([this](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      text_ += std::string(line) + "\n";
    });
  }
  ~Lines() { set_log_sink({}); }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

std::int64_t now_s() {
  return std::chrono::floor<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::size_t seconds_in(const std::string& path) {
  const std::int64_t now = now_s();
  const Range range{.from = at_second(now - 600), .to = at_second(now + 600), .step_s = 1};
  const Result<heat::HeatMap> map = read_heat(path, range);
  return map.ok() ? map->steps.size() : 0;
}

double sample(const Writer& writer, std::string_view name, std::string_view label = "") {
  for (const MetricSample& each : writer.samples())
    if (each.row->name == name && (label.empty() || each.labels.front().second == label))
      return each.value;
  ADD_FAILURE() << name;
  return -1;
}

TEST(Writer, WritesWhatIsAddedAndCountsIt) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  Writer writer({.path = path});
  writer.add(counts_of(now_s(), {{"a", 10}}));
  writer.add(KeptEvent{.what = "nothing-hot", .reason = "none"});
  ASSERT_TRUE(writer.flush(kLimit));
  EXPECT_EQ(seconds_in(path), 1U);
  EXPECT_EQ(writer.problem().what, "");
  EXPECT_EQ(sample(writer, "heatsink_history_written_total", "seconds"), 1);
  EXPECT_EQ(sample(writer, "heatsink_history_written_total", "events"), 1);
  EXPECT_GT(sample(writer, "heatsink_history_file_bytes"), 4096);
}

TEST(Writer, ItsEndWritesWhatWaits) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  {
    Writer writer({.path = path});
    writer.add(counts_of(now_s(), {{"a", 10}}));
  }
  EXPECT_EQ(seconds_in(path), 1U);
}

TEST(Writer, ADamagedFileIsSetAsideAndANewOneBegins) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  Writer({.path = path}).add(counts_of(now_s() - 60, {{"a", 10}}));
  const auto bytes = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);  // behind the header
    file << std::string(10'000, 'x');
  }
  const Lines lines;
  Writer writer({.path = path});
  writer.add(counts_of(now_s(), {{"a", 10}}));
  ASSERT_TRUE(writer.flush(kLimit));
  EXPECT_EQ(seconds_in(path), 1U);
  EXPECT_EQ(std::filesystem::file_size(path + ".damaged-1"), bytes);
  EXPECT_NE(lines.text().find("is damaged"), std::string::npos);
  EXPECT_EQ(sample(writer, "heatsink_history_set_aside_total"), 1);
}

TEST(Writer, WaitsForAFolderAndSaysSo) {
  const Folder folder;
  const std::string path = folder.path("later/h.db");
  const Lines lines;
  Writer writer({.path = path});
  writer.add(counts_of(now_s(), {{"a", 10}}));
  while (writer.problem().what.empty()) std::this_thread::yield();
  EXPECT_NE(writer.problem().what.find("No such file or directory"), std::string::npos);
  EXPECT_EQ(sample(writer, "heatsink_history_failing"), 1);
  std::filesystem::create_directory(folder.path("later"));
  ASSERT_TRUE(writer.flush(kLimit));
  EXPECT_EQ(writer.problem().what, "");
  EXPECT_EQ(seconds_in(path), 1U);
  EXPECT_NE(lines.text().find("is written again; lost: 0 seconds and 0 events"), std::string::npos);
}

TEST(Writer, AFileThatIsMovedAwayIsFollowedByANewOne) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  Writer writer({.path = path});
  writer.add(counts_of(now_s(), {{"a", 10}}));
  ASSERT_TRUE(writer.flush(kLimit));
  std::filesystem::rename(path, path + ".old");
  writer.add(counts_of(now_s() + 1, {{"a", 10}}));
  ASSERT_TRUE(writer.flush(kLimit));
  EXPECT_EQ(seconds_in(path), 1U);
  EXPECT_EQ(seconds_in(path + ".old"), 1U) << "what was in its log is in it";
}

TEST(Writer, AFileThatIsPutInItsPlaceIsContinued) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  const std::int64_t now = now_s();
  Writer(FileOptions{.path = folder.path("other")}).add(counts_of(now - 60, {{"other", 10}}));
  Writer writer({.path = path});
  for (std::int64_t i = 0; i < 5; ++i) writer.add(counts_of(now + i, {{"a", 10}}));
  ASSERT_TRUE(writer.flush(kLimit));
  std::filesystem::rename(path, path + ".old");
  std::filesystem::rename(folder.path("other"), path);
  writer.add(counts_of(now + 5, {{"a", 10}}));
  ASSERT_TRUE(writer.flush(kLimit));
  EXPECT_EQ(seconds_in(path), 2U) << "the log of the file before does not go into it";
  EXPECT_EQ(seconds_in(path + ".old"), 5U);
  EXPECT_EQ(Database(path, Database::Access::kRead).text("PRAGMA integrity_check"), "ok");
}

TEST(Writer, AnEndLetsAnotherWriterIn) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  Writer first({.path = path});
  first.add(counts_of(now_s(), {{"a", 10}}));
  first.end();
  first.add(counts_of(now_s() + 1, {{"a", 10}}));
  EXPECT_EQ(seconds_in(path), 1U);
  EXPECT_EQ(sample(first, "heatsink_history_waiting_bytes"), 0);
  Writer second({.path = path});
  second.add(counts_of(now_s() + 2, {{"a", 10}}));
  ASSERT_TRUE(second.flush(kLimit));
  EXPECT_EQ(seconds_in(path), 2U);
}

TEST(Writer, AFileThatIsBusyStaysOpen) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  Writer writer({.path = path});
  writer.add(counts_of(now_s(), {{"a", 10}}));
  ASSERT_TRUE(writer.flush(kLimit));
  Database person(path, Database::Access::kWrite);
  person.run("BEGIN IMMEDIATE");
  writer.add(counts_of(now_s() + 1, {{"a", 10}}));
  while (sample(writer, "heatsink_history_failures_total") < 1) std::this_thread::yield();
  Failure why;
  EXPECT_FALSE(HistoryFile::open({.path = path}, why).ok()) << "the next try would check all of it";
  EXPECT_EQ(why.message, "another process writes it");
  person.run("ROLLBACK");
  ASSERT_TRUE(writer.flush(kLimit));
  EXPECT_EQ(seconds_in(path), 2U);
}

TEST(Writer, TheFileOfAnotherProgramIsNotTouched) {
  const Folder folder;
  const std::string path = folder.path("h.db");
  {
    Database other(path, Database::Access::kWrite);
    other.run("CREATE TABLE customers (name)");
  }
  Writer writer({.path = path});
  writer.add(counts_of(now_s(), {{"a", 10}}));
  while (writer.problem().what.empty()) std::this_thread::yield();
  EXPECT_NE(writer.problem().what.find("it is no history of heatsink"), std::string::npos);
  EXPECT_NE(writer.problem().mend.find("move it away"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path + ".damaged-1"));
}

}  // namespace
}  // namespace heatsink::history
