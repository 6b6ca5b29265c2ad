// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/database.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "heatsink/history/folder_for_test.h"

namespace heatsink::history {
namespace {

TEST(Database, ValuesComeBackAsTheyWereWritten) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  database.run("CREATE TABLE t (a INTEGER, b REAL, c TEXT, d TEXT)");
  Statement insert(database, "INSERT INTO t VALUES (?, ?, ?, ?)");
  insert.bind(7, std::numeric_limits<double>::quiet_NaN(), std::string("a\0b", 3), kNull).finish();
  EXPECT_EQ(database.changes(), 1);
  Statement row(database, "SELECT * FROM t");
  ASSERT_TRUE(row.bind().step());
  EXPECT_EQ(row.integer(0), 7);
  EXPECT_TRUE(std::isnan(row.real(1)));
  EXPECT_EQ(row.text(2), std::string("a\0b", 3));
  EXPECT_TRUE(row.is_null(3));
  EXPECT_FALSE(row.step());
  EXPECT_TRUE(database.ok());
}

TEST(Database, KeepsTheFirstFailureAndDoesNothingAfterIt) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  database.run("CREATE TABLE t (a)");
  database.run("INSERT INTO missing VALUES (1)");
  database.run("INSERT INTO t VALUES (1)");
  ASSERT_FALSE(database.ok());
  EXPECT_EQ(database.failure().message, "no such table: missing");
  EXPECT_TRUE(database.take_failure());
  EXPECT_EQ(database.number("SELECT count(*) FROM t"), 0);
}

TEST(Database, ATransactionThatIsNotCommittedLeavesNothing) {
  const Folder folder;
  Database database(folder.path("a.db"), Database::Access::kWrite);
  database.run("CREATE TABLE t (a)");
  {
    Transaction transaction(database);
    database.run("INSERT INTO t VALUES (1)");
    database.run("INSERT INTO missing VALUES (1)");
    EXPECT_FALSE(transaction.commit());
  }
  EXPECT_TRUE(database.take_failure());
  EXPECT_EQ(database.number("SELECT count(*) FROM t"), 0);
  {
    Transaction transaction(database);
    database.run("INSERT INTO t VALUES (1)");
    EXPECT_TRUE(transaction.commit());
  }
  EXPECT_EQ(database.number("SELECT count(*) FROM t"), 1);
}

TEST(Database, FailuresHaveKinds) {
  const Folder folder;
  std::ofstream(folder.path("text"))
      << "this is no database, but it is longer than a header: " + std::string(4096, 'x');
  Database text(folder.path("text"), Database::Access::kWrite);
  text.run("CREATE TABLE t (a)");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.failure().kind, FailureKind::kDamaged);

  Database nowhere(folder.path("none/a.db"), Database::Access::kWrite);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.failure().kind, FailureKind::kOther);

  Database full(folder.path("full.db"), Database::Access::kWrite);
  full.run("CREATE TABLE t (a)");
  full.number("PRAGMA max_page_count = 3");
  full.run("INSERT INTO t VALUES (zeroblob(100000))");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.failure().kind, FailureKind::kFull);
}

}  // namespace
}  // namespace heatsink::history
