// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/hot_copies.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/client/copies_for_test.h"

namespace heatsink::client {
namespace {

constexpr Nanos kWhile = std::chrono::seconds(5);

struct Hot : CopiesForTest {
  explicit Hot(const ClientOptions& given = {}, bool keeps = false)
      : CopiesForTest(given), keeps_cold(keeps) {}

  detect::Change change(std::string_view key, detect::Change::Kind kind) const {
    detect::Change change{.kind = kind, .verdict = {}};
    change.verdict.count.key = std::string(key);
    change.verdict.count.hash = hash_for_test(key);
    change.verdict.reason = "for a reason";
    return change;
  }
  std::vector<HotEvent> promote(std::string_view key) {
    const std::vector changes{change(key, detect::Change::Kind::kPromote)};
    return copies.follow(changes, runtime.time);
  }
  std::vector<HotEvent> demote(std::string_view key) {
    const std::vector changes{change(key, detect::Change::Kind::kDemote)};
    return copies.follow(changes, runtime.time);
  }
  bool warm(std::string_view key) {
    return copies.warm(key, hash_for_test(key), runtime.time + kWhile);
  }
  bool has(std::string_view key) const { return kept.has(hash_for_test(key)); }
  bool is_hot(std::string_view key) const { return kept.is_hot(hash_for_test(key)); }

  const bool keeps_cold;
  HotKeys hot_keys{options, 1};
  HotCopies copies{options,
                   {.kept = kept,
                    .guard = guard,
                    .refreshes = refreshes,
                    .hot_keys = hot_keys,
                    .counters = counters,
                    .keeps_cold = keeps_cold}};
};

TEST(HotCopies, FollowsPromotionsAndDemotionsAndTellsThem) {
  Hot it;
  const std::vector<HotEvent> promoted = it.promote("a");
  ASSERT_EQ(promoted.size(), 1U);
  EXPECT_EQ(promoted[0].key, "a");
  EXPECT_TRUE(promoted[0].is_hot);
  EXPECT_EQ(promoted[0].reason, "for a reason");
  EXPECT_TRUE(it.is_hot("a"));
  const std::vector<HotEvent> demoted = it.demote("a");
  ASSERT_EQ(demoted.size(), 1U);
  EXPECT_FALSE(demoted[0].is_hot);
  EXPECT_FALSE(it.has("a"));
  EXPECT_EQ(it.counters.promotions, 1U);
  EXPECT_EQ(it.counters.demotions, 1U);
  const std::vector notice{it.change("a", detect::Change::Kind::kNotice)};
  EXPECT_TRUE(it.copies.follow(notice, it.runtime.time).empty());
}

TEST(HotCopies, AKeyWhoseNameWasCutIsToldAndNotKept) {
  Hot it;
  std::vector changes{it.change("a", detect::Change::Kind::kPromote)};
  changes[0].verdict.count.key_truncated = true;
  EXPECT_EQ(it.copies.follow(changes, it.runtime.time).size(), 1U);
  EXPECT_FALSE(it.has("a"));
}

TEST(HotCopies, WhereKeysEarnCopiesADemotedOneKeepsItsOwn) {
  Hot it({}, true);
  it.promote("a");
  it.keep("a", 1);
  it.demote("a");
  EXPECT_FALSE(it.is_hot("a"));
  EXPECT_EQ(it.copy("a"), 1);
}

TEST(HotCopies, AWarmKeyStaysUntilItsTime) {
  Hot it;
  EXPECT_TRUE(it.warm("a"));
  it.demote("a");
  EXPECT_TRUE(it.is_hot("a"));
  it.pass(kWhile - Nanos(1));
  it.copies.cool_down(it.runtime.time);
  EXPECT_TRUE(it.is_hot("a"));
  it.pass(Nanos(1));
  it.copies.cool_down(it.runtime.time);
  EXPECT_FALSE(it.has("a"));
}

TEST(HotCopies, RefusesToWarmMoreKeysThanMaximumSize) {
  ClientOptions options;
  options.maximum_size = 1;
  Hot it(options);
  EXPECT_TRUE(it.warm("a"));
  EXPECT_TRUE(it.warm("a"));
  EXPECT_FALSE(it.warm("b"));
  EXPECT_FALSE(it.has("b"));
}

// Its loader is not known, so nothing refreshes it.
TEST(HotCopies, ACopyThatWasEarnedBeforeEndsWhenItsRefreshIsDue) {
  Hot it({}, true);
  it.kept.admit("a", hash_for_test("a"));
  it.kept.admit("b", hash_for_test("b"));
  const TimePoint loaded_at = it.runtime.time;
  it.keep("a", 1);
  it.promote("a");
  it.runtime.time = loaded_at + it.refreshes.interval() - Nanos(1);
  it.copies.drop_due(it.runtime.time);
  EXPECT_EQ(it.copy("a"), 1);
  it.pass(Nanos(1));
  it.copies.drop_due(it.runtime.time);
  EXPECT_EQ(it.copy("a"), 0);
  it.keep("b", 2);
  it.promote("b");
  it.pass(Nanos(1));
  it.keep("b", 3);  // a reader has brought its loader
  it.pass(it.refreshes.interval());
  it.copies.drop_due(it.runtime.time);
  EXPECT_EQ(it.copy("b"), 3);
}

TEST(HotCopies, ALoadFromATimeBeforeAKeyWasKeptIsNotItsCopy) {
  ClientOptions options;
  options.server_url = kSomeServer;
  Hot it(options);
  const ServerLink::Watch begun = it.watch();
  it.pass(Nanos(1));
  it.promote("a");
  EXPECT_FALSE(it.guard.keep(hash_for_test("a"), begun, value_of(1)).is_kept);
}

}  // namespace
}  // namespace heatsink::client
