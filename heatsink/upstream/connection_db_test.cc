// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/connection_db.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

TEST(ConnectionDb, BeginsInDatabaseZero) {
  const ConnectionDb db;
  EXPECT_EQ(db.now(), 0U);
  EXPECT_TRUE(db.knows(0));
  EXPECT_FALSE(db.knows(3));
}

TEST(ConnectionDb, SelectIsSentOnlyIfTheDatabaseChanges) {
  ConnectionDb db;
  EXPECT_FALSE(db.use(0));
  EXPECT_TRUE(db.use(3));
  EXPECT_FALSE(db.use(3));
  EXPECT_TRUE(db.use(0));
}

TEST(ConnectionDb, ADatabaseIsKnownOnceTheServerHasAllowedIt) {
  ConnectionDb db;
  EXPECT_FALSE(db.may_use(3));
  db.set(3);
  EXPECT_TRUE(db.may_use(3)) << "no SELECT is needed";
  EXPECT_FALSE(db.knows(3));
  db.selected(3);
  db.set(0);
  EXPECT_TRUE(db.may_use(3));
}

TEST(ConnectionDb, TheServerIsAskedOnceWhetherItAllowsAnother) {
  ConnectionDb db;
  EXPECT_TRUE(db.ask_for_another());
  EXPECT_EQ(db.now(), ConnectionDb::kUnknown);
  EXPECT_FALSE(db.ask_for_another());
  EXPECT_TRUE(db.use(0)) << "the connection may be in the other one";
}

TEST(ConnectionDb, AfterARefusedSelectNothingIsKnown) {
  ConnectionDb db;
  db.selected(3);
  db.select_ended(false);
  EXPECT_FALSE(db.is_refused());
  EXPECT_TRUE(db.knows(3));
  db.select_ended(true);
  EXPECT_TRUE(db.is_refused());
  EXPECT_EQ(db.now(), ConnectionDb::kUnknown);
  EXPECT_FALSE(db.knows(3));
  EXPECT_FALSE(db.knows(0));
  db.select_ended(false);
  EXPECT_FALSE(db.is_refused()) << "only the last one counts";
}

}  // namespace
}  // namespace heatsink::proxy
