// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_orders.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/copies/keeper_parts_for_test.h"

namespace heatsink::copies {
namespace {

class CopyOrdersTest : public testing::Test {
 protected:
  // The key is hot, or warmed, and has one copy.
  void add_copy(const std::string& name, bool is_warmed = false) {
    const KeyHash hash = in_db(hash_name(name, 1), 0);
    cache::HotTable& table = parts_.shared.table;
    ASSERT_TRUE(is_warmed ? table.retain(name, 0, hash, hash_name(name, 1), at(0), {})
                          : table.promote(name, 0, hash, hash_name(name, 1), at(0), {}));
    auto copy = std::make_unique<cache::Copy>();
    copy->fill_sent_at = at(1);
    copy->deadline = at(10'000);
    copy->reply = "$1\r\nv\r\n";
    ASSERT_TRUE(parts_.shared.table.insert(hash, std::move(copy)));
  }

  explicit CopyOrdersTest(policy::KeyDisplay shown = {}) : parts_({}, std::move(shown)) {}

  KeeperPartsForTest parts_;
  CopyOrders orders_{parts_.shared, parts_.hot_keys, parts_.admission, parts_.events};
};

TEST_F(CopyOrdersTest, DropsTheCopyOfAHotKeyWhichStaysHot) {
  add_copy("k");
  const report::DropReport report = orders_.drop({"k", 0}, "alice", at(5));
  EXPECT_EQ(report.copies, 1U);
  EXPECT_EQ(report.next.rfind("the key is hot", 0), 0U) << report.next;
  EXPECT_FALSE(parts_.shared.table.has_copy(in_db(hash_name("k", 1), 0)));
  ASSERT_EQ(parts_.events.latest().size(), 1U);
  EXPECT_EQ(parts_.events.latest().front().reason.rfind("dropped its local copy (by alice)", 0),
            0U);
}

TEST_F(CopyOrdersTest, SaysThatThereIsNoneToDrop) {
  const report::DropReport report = orders_.drop({"k", 0}, "alice", at(5));
  EXPECT_EQ(report.copies, 0U);
  EXPECT_EQ(report.next, "a copy is made when reads of the key pay for one");
}

TEST_F(CopyOrdersTest, NotesOrdersWithAndWithoutAKey) {
  orders_.note("warming of 2 keys (by alice)", {}, at(5));
  orders_.note("warming (by alice)", {"k", 3}, at(5));
  ASSERT_EQ(parts_.events.latest().size(), 2U);
  EXPECT_EQ(parts_.events.latest().front().key, "");
  EXPECT_EQ(parts_.events.latest().back().key, "k");
  EXPECT_EQ(parts_.events.latest().back().db, 3U);
}

class RedactedCopyOrdersTest : public CopyOrdersTest {
 protected:
  RedactedCopyOrdersTest() : CopyOrdersTest(policy::KeyDisplay::hashed("secret")) {}
};

// Nobody reads it, so it has no verdict; the report lists it because it is warmed.
TEST_F(RedactedCopyOrdersTest, FindsAWarmedKeyByTheNameThatIsShown) {
  add_copy("k", true);
  const std::string shown = parts_.shared.shown.show("k");
  const report::DropReport report = orders_.drop({shown, 0}, "alice", at(5));
  EXPECT_EQ(report.problem, "");
  EXPECT_EQ(report.copies, 1U);
  EXPECT_EQ(report.key.name, shown);
  EXPECT_EQ(parts_.events.latest().front().key, shown);
}

TEST_F(RedactedCopyOrdersTest, SaysThatNoListedKeyHasTheName) {
  const report::DropReport report = orders_.drop({"key#0123456789abcdef", 0}, "alice", at(5));
  EXPECT_EQ(report.problem, "no listed key has this name");
  EXPECT_TRUE(parts_.events.latest().empty());
}

TEST_F(RedactedCopyOrdersTest, TakesTheTrueNameToo) {
  add_copy("k");
  EXPECT_EQ(orders_.drop({"k", 0}, "alice", at(5)).copies, 1U);
}

}  // namespace
}  // namespace heatsink::copies
