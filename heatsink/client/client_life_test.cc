// SPDX-License-Identifier: Apache-2.0
// The life of a hot key: promoted, refreshed, given up, demoted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "heatsink/client/client.h"
#include "heatsink/client/stage_for_test.h"

namespace heatsink::client {
namespace {

using ::testing::IsEmpty;

TEST(ClientLife, AKeyThatIsReadNoMoreIsDemotedAndItsCopyGoes) {
  ClientOptions options = eager();
  options.minimum_residence = Nanos(0);
  Stage stage(options);
  stage.source.write("a", "1");
  ASSERT_TRUE(eventually([&] {
    stage.get("a");
    return static_cast<bool>(stage.client.peek("a"));
  }));
  EXPECT_TRUE(eventually([&] { return !stage.client.is_hot("a"); }));
  EXPECT_FALSE(stage.client.peek("a"));
  EXPECT_GE(stage.client.stats().demotions, 1U);
}

TEST(ClientLife, TellsWhoBecomesHotAndWhoIsNoLonger) {
  ClientOptions options = eager();
  options.minimum_residence = Nanos(0);
  std::mutex mutex;
  std::vector<std::string> told;
  Stage stage(options);
  stage.client.on_hot([&](const HotEvent& event) {
    const std::lock_guard lock(mutex);
    told.push_back((event.is_hot ? "+" : "-") + event.key);
  });
  stage.source.write("a", "1");
  ASSERT_TRUE(stage.get_hot("a"));
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return !told.empty() && told.back() == "-a";
  }));
  const std::lock_guard lock(mutex);  // more than once, if the machine stood still
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], i % 2 == 0 ? "+a" : "-a");
}

TEST(ClientLife, RefreshesHotKeysInTheBackground) {
  ClientOptions options;
  options.refresh_interval = Millis(10);
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.source.write("a", "2");
  EXPECT_TRUE(eventually([&] { return stage.client.peek("a").value() == "2"; }));
  EXPECT_TRUE(eventually([&] { return stage.client.stats().refreshes > 0; }));
}

TEST(ClientLife, DropsAKeyWhoseRefreshesFailAndTakesItUpAgainWhenItIsLoaded) {
  ClientOptions options;
  options.refresh_interval = Millis(5);
  options.max_failures = 3;
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  ASSERT_TRUE(eventually([&] { return stage.client.peek("a").value() == "1"; }));
  stage.source.is_down = true;
  EXPECT_TRUE(eventually([&] { return stage.client.stats().refresh_drops == 1; }));
  EXPECT_TRUE(eventually([&] { return !stage.client.peek("a"); }));
  EXPECT_GE(stage.client.stats().refresh_failures, 3U);
  stage.source.is_down = false;
  EXPECT_EQ(stage.get("a"), "1");
  const std::uint64_t before = stage.client.stats().refreshes;
  EXPECT_TRUE(eventually([&] { return stage.client.stats().refreshes > before; }));
}

// The loader goes with the copy.
TEST(ClientLife, OfADemotedKeyNothingIsLoadedAnyMore) {
  ClientOptions options;
  options.refresh_interval = Millis(10);
  options.tick = Millis(10);
  std::atomic<int> demoted{0}, other{0};
  Stage stage(options);
  const auto loader = [&](const std::string& key) {
    ++(key == "demoted" ? demoted : other);
    return std::optional<std::string>("1");
  };
  const std::vector<std::string> keys = {"demoted"}, others = {"other"};
  ASSERT_THAT(stage.client.warm(keys, loader, Millis(100)), IsEmpty());
  ASSERT_TRUE(eventually([&] { return !stage.client.is_hot("demoted"); }));
  const int before = demoted;
  ASSERT_THAT(stage.client.warm(others, loader), IsEmpty());
  EXPECT_TRUE(eventually([&] { return other > 10; }));
  EXPECT_LE(demoted, before + 1) << "one may have been under way";
}

TEST(ClientLife, RefreshesNoMoreKeysAtOnceThanItHasThreads) {
  ClientOptions options;
  options.refresh_threads = 2;
  options.refresh_interval = Millis(10);
  std::atomic<int> at_once{0}, most{0}, done{0};
  Stage stage(options);
  const auto loader = [&](const std::string&) {
    const int now = ++at_once;
    int known = most;
    while (now > known && !most.compare_exchange_weak(known, now)) {
    }
    eventually([&] { return at_once == 2 || done > 0; });  // both refreshers are busy
    --at_once;
    ++done;
    return std::optional<std::string>("1");
  };
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"};
  ASSERT_THAT(stage.client.warm(keys, loader), IsEmpty());
  EXPECT_TRUE(eventually([&] { return done > 20; }));
  EXPECT_EQ(most, 2);
}

TEST(ClientLife, AKeyThatFailsDoesNotKeepOthersFromBeingRefreshed) {
  ClientOptions options;
  options.refresh_threads = 1;
  options.refresh_interval = Millis(10);
  options.max_failures = 1000;
  std::atomic<int> good{0}, bad{0};
  Stage stage(options);
  const auto loader = [&](const std::string& key) {
    if (key == "bad" && ++bad > 1) throw std::runtime_error("this one fails");
    if (key == "good") ++good;
    return std::optional<std::string>("1");
  };
  const std::vector<std::string> keys = {"bad", "good"};
  ASSERT_THAT(stage.client.warm(keys, loader), IsEmpty());
  EXPECT_TRUE(eventually([&] { return bad > 10 && good > 10; }));
  EXPECT_TRUE(stage.client.peek("bad")) << "it is served until it expires";
}

TEST(ClientLife, ForgetsAHotKeyThatNobodyAsksForWhateverItsResidence) {
  ClientOptions options = eager();
  options.minimum_residence = std::chrono::hours(1);
  options.demotion_interval = std::chrono::hours(1);
  options.inactive_expire = std::chrono::seconds(1);
  Stage stage(options);
  stage.source.write("a", "1");
  ASSERT_TRUE(stage.get_hot("a"));
  EXPECT_TRUE(eventually([&] { return !stage.client.is_hot("a"); }));
  EXPECT_FALSE(stage.client.peek("a"));
}

TEST(ClientLife, KeepsCopiesWithinTheirLimitOfBytes) {
  ClientOptions options = quiet();
  options.maximum_bytes = kibibytes(64);
  Stage stage(options);
  stage.source.write("small", "1");
  stage.source.write("big", std::string(65'536, 'x'));
  stage.warm_up("small");
  stage.warm_up("big");
  EXPECT_FALSE(stage.client.peek("big"));
  EXPECT_EQ(stage.get("big").size(), 65'536U) << "it is loaded each time";
  EXPECT_EQ(stage.source.reads, 1);
  const Stats stats = stage.client.stats();
  EXPECT_EQ(stats.copies, 1U);
  EXPECT_EQ(stats.no_room, 2U);
  EXPECT_GT(stats.copies_bytes, 6U);
  EXPECT_LT(stats.copies_bytes, 1000U);
}

TEST(ClientLife, WarmedKeysCoolDownWhenTheirTimeIsOver) {
  ClientOptions options = quiet();
  options.tick = Millis(10);
  Stage stage(options);
  const std::vector<std::string> keys = {"a"};
  stage.client.warm(keys, stage.source.loader(), Millis(20));
  EXPECT_TRUE(eventually([&] { return !stage.client.is_hot("a"); }));
}

TEST(ClientLife, WarmsNoMoreKeysThanItKeeps) {
  ClientOptions options = quiet();
  options.maximum_size = 2;
  Stage stage(options);
  const std::vector<std::string> keys = {"a", "b", "c"};
  EXPECT_THAT(stage.client.warm(keys, stage.source.loader()), ::testing::ElementsAre("c"));
}

}  // namespace
}  // namespace heatsink::client
