// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/schema.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "heatsink/heat/scale.h"
#include "heatsink/history/folder_for_test.h"

namespace heatsink::history {
namespace {

TEST(Schema, ANewFileGetsTablesAndViewsWithPlainNames) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  ASSERT_EQ(prepare(database, migrations()), FileState::kCurrent);
  for (const char* const view : {"totals", "hot_keys", "hot_templates", "events", "busy_slots",
                                 "busy_nodes", "busy_clients"})
    EXPECT_EQ(database.number((std::string("SELECT count(*) FROM ") + view).c_str()), 0) << view;
  EXPECT_EQ(database.number("SELECT count(*) FROM rates"), 256);
  EXPECT_TRUE(database.ok());
  EXPECT_EQ(prepare(database, migrations()), FileState::kCurrent) << "once more changes nothing";
}

TEST(Schema, AnOlderFileIsBroughtUpToDateWithItsRows) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  ASSERT_EQ(prepare(database, migrations()), FileState::kCurrent);
  database.run("INSERT INTO names (kind, db, is_cut, name) VALUES (0, 0, 0, 'a')");
  std::vector<const char*> scripts(migrations().begin(), migrations().end());
  scripts.push_back(
      "ALTER TABLE names ADD COLUMN colour TEXT; UPDATE names SET colour = 'red';"
      "CREATE VIEW colours AS SELECT name, colour FROM names");
  ASSERT_EQ(prepare(database, scripts), FileState::kCurrent);
  EXPECT_EQ(database.text("SELECT name || colour FROM colours"), "ared");
  EXPECT_EQ(prepare(database, migrations()), FileState::kNewer) << "an older heatsink";
}

TEST(Schema, BytesOfVersion3GetTheirNewCodes) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  ASSERT_EQ(prepare(database, migrations().first(3)), FileState::kCurrent);
  database.run(
      "WITH RECURSIVE codes (code) AS (SELECT 0 UNION ALL SELECT code + 1 FROM codes WHERE code < "
      "255) INSERT INTO cells SELECT 1, code, code, 0, 0, 0, code FROM codes");
  std::vector<std::int64_t> read_as_it_is;
  Statement read(
      database,
      (std::string("SELECT ") + kBytesOfVersion3 + " FROM cells c ORDER BY name").c_str());
  for (read.bind(); read.step();) read_as_it_is.push_back(read.integer(0));
  read.finish();
  ASSERT_EQ(prepare(database, migrations()), FileState::kCurrent);
  Statement now(database,
                "SELECT c.mean, c.bytes, b.per_second FROM cells c JOIN byte_rates b "
                "ON b.code = c.bytes ORDER BY c.name");
  std::vector<std::int64_t> brought_up;
  for (now.bind(); now.step();) {
    const auto was = static_cast<heat::RateCode>(now.integer(0));
    const auto code = static_cast<heat::RateCode>(now.integer(1));
    brought_up.push_back(code);
    EXPECT_NEAR(now.real(2), heat::bytes_of(code), 1e-9 * heat::bytes_of(code));
    if (was > 0) {
      EXPECT_NEAR(heat::bytes_of(code) / (1024 * heat::rate_of(was)), 1, 0.045);
    }
  }
  EXPECT_EQ(brought_up.size(), 256U);
  EXPECT_EQ(brought_up, read_as_it_is) << "a file that only is read says the same";
}

TEST(Schema, AMigrationThatFailsLeavesTheFileAsItWas) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  ASSERT_EQ(prepare(database, migrations()), FileState::kCurrent);
  const std::int64_t version = database.number("PRAGMA user_version");
  std::vector<const char*> scripts(migrations().begin(), migrations().end());
  scripts.push_back("CREATE TABLE half (a); INSERT INTO missing VALUES (1)");
  EXPECT_EQ(prepare(database, scripts), FileState::kUnusable);
  EXPECT_TRUE(database.take_failure());
  EXPECT_EQ(database.number("PRAGMA user_version"), version);
  EXPECT_EQ(database.number("SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
}

TEST(Schema, TheDatabaseOfAnotherProgramIsLeftAlone) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  database.run("CREATE TABLE customers (name)");
  EXPECT_EQ(prepare(database, migrations()), FileState::kForeign);
  EXPECT_EQ(database.number("SELECT count(*) FROM sqlite_schema"), 1);
}

}  // namespace
}  // namespace heatsink::history
