// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/hot_keys.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/client/access_shards.h"
#include "heatsink/client/copies_for_test.h"
#include "heatsink/client/detect_options.h"
#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr std::uint64_t kSeed = 1;

ClientOptions ten_per_second() {
  ClientOptions options;
  options.window = std::chrono::seconds(1);
  options.hot_qps = 10;
  options.warm_qps = 5;
  return options;
}

struct Judged {
  explicit Judged(const ClientOptions& given = ten_per_second()) : options(given) {}

  std::vector<detect::Change> read(std::string_view key, int times) {
    for (int i = 0; i < times; ++i) shards.record({.hash = hash_for_test(key), .key = key}, now);
    now += AccessShards::kLogAgeMax + Nanos(1);
    shards.record({.hash = hash_for_test("later"), .key = "later"}, now);
    return hot_keys.update(detect::merge(shards.summarize(now, 100, 0), 100));
  }

  const ClientOptions options;
  HotKeys hot_keys{options, kSeed};
  AccessShards shards{recorder_options(options, kSeed, hot_keys.rules()), 1};
  TimePoint now = kStart;
};

TEST(HotKeys, AKeyAboveTheThresholdIsPromotedOnce) {
  Judged it;
  const auto changes = it.read("a", 50);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, detect::Change::Kind::kPromote);
  EXPECT_EQ(changes[0].verdict.count.key, "a");
  EXPECT_TRUE(it.hot_keys.is_hot(hash_for_test("a")));
  EXPECT_FALSE(it.hot_keys.is_hot(hash_for_test("later")));
  EXPECT_TRUE(it.read("a", 50).empty());
}

TEST(HotKeys, TopNamesTheBusiestFirst) {
  Judged it;
  it.read("b", 40);
  it.read("a", 50);
  const std::vector<HotKeyInfo> top = it.hot_keys.top(5);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].key, "a");
  EXPECT_EQ(top[0].temperature, "hot");
  EXPECT_EQ(top[0].reads, 50U);
  EXPECT_EQ(top[1].key, "b");
  EXPECT_EQ(it.hot_keys.top(1).size(), 1U);
}

TEST(HotKeys, TellsTheFleetItsCountsWithTheDatabase) {
  ClientOptions options = ten_per_second();
  options.server_url = "redis://127.0.0.1:1/3";
  Judged it(options);
  EXPECT_TRUE(it.hot_keys.counted().empty()) << "nothing was counted yet";
  it.read("a", 50);
  const std::vector<detect::Summary> counted = it.hot_keys.counted();
  ASSERT_EQ(counted.size(), 1U);
  ASSERT_FALSE(counted[0].keys.empty());
  for (const detect::KeyCount& key : counted[0].keys) {
    EXPECT_EQ(key.db, 3U);
    EXPECT_EQ(key.hash, in_db(hash_name(key.key, kSeed), 3));
  }
  it.hot_keys.read([](const HotKeys::Known& known) {
    for (const detect::KeyCount& key : known.window.keys) EXPECT_EQ(key.db, 0U);
  });
}

// Without the fleet's counts, each process has its part of the thresholds.
TEST(HotKeys, WhileTheFleetIsNotKnownThresholdsAreDividedByItsSize) {
  ClientOptions options = ten_per_second();
  options.fleet_enabled = true;
  Judged it(options);
  EXPECT_TRUE(it.read("a", 9).empty() || !it.hot_keys.is_hot(hash_for_test("a")));
  it.hot_keys.set_fleet({.list = nullptr, .instances = 4, .problem = "away"});
  it.read("a", 0);
  EXPECT_TRUE(it.hot_keys.is_hot(hash_for_test("a")));
  it.hot_keys.read([](const HotKeys::Known& known) {
    EXPECT_EQ(known.fleet.instances, 4U);
    EXPECT_EQ(known.fleet.problem, "away");
  });
}

}  // namespace
}  // namespace heatsink::client
