// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/schema.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

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
