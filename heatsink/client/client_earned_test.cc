// SPDX-License-Identifier: Apache-2.0
// Copies of keys that are not hot (cache.admission: pays).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "heatsink/client/stage_for_test.h"

namespace heatsink::client {
namespace {

using ::testing::IsEmpty;

// The defaults, without refreshes.
ClientOptions paying() {
  ClientOptions options;
  options.refresh_enabled = false;
  return options;
}

TEST(EarnedCopies, AKeyThatIsNotHotIsServedLocally) {
  Stage stage(paying());
  stage.source.write("a", "1");
  EXPECT_EQ(stage.get("a"), "1");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(stage.get("a"), "1");
  EXPECT_EQ(stage.source.reads, 1) << "without a server a copy costs nothing";
  EXPECT_TRUE(stage.client.get("a", stage.source.loader()).is_hit());
  EXPECT_FALSE(stage.client.is_hot("a"));
  EXPECT_TRUE(stage.client.is_kept("a"));
  const Stats stats = stage.client.stats();
  EXPECT_EQ(stats.copies, 1U);
  EXPECT_EQ(stats.hot_keys, 0U);
  EXPECT_EQ(stats.promotions, 0U);
  EXPECT_THAT(stage.client.top(), IsEmpty());
}

TEST(EarnedCopies, AreEarnedByReadsInTwoSteps) {
  Stage stage(paying());
  EXPECT_FALSE(stage.client.peek("a"));
  EXPECT_FALSE(stage.client.is_kept("a")) << "peek() counts nothing";
  EXPECT_FALSE(stage.client.read("a").is_hit());
  EXPECT_TRUE(stage.client.is_kept("a"));
  EXPECT_FALSE(stage.client.load("a", stage.source.loader()).is_hit());
  EXPECT_TRUE(stage.client.read("a").is_hit());
  EXPECT_EQ(stage.source.reads, 1);
}

TEST(EarnedCopies, AWriteIsSeenAtOnce) {
  Stage stage(paying());
  stage.source.write("a", "1");
  stage.get("a");
  const auto store = [&](const std::string& key, const std::string& value) {
    stage.source.write(key, value);
  };
  stage.client.set("a", "2", store);
  EXPECT_EQ(stage.get("a"), "2");
  stage.client.update("a", "3");
  EXPECT_EQ(stage.get("a"), "3");
  EXPECT_EQ(stage.source.reads, 1) << "all were known";
  stage.client.invalidate("a");
  EXPECT_EQ(stage.get("a"), "2");
}

TEST(EarnedCopies, ALoadThatAWriteOvertookIsNotKept) {
  Stage stage(paying());
  stage.source.write("a", "1");
  stage.source.before_answer = [&] {
    stage.source.before_answer = nullptr;
    stage.client.set("a", "2", [&](const std::string& key, const std::string& value) {
      stage.source.write(key, value);
    });
  };
  EXPECT_EQ(stage.get("a"), "1") << "it asked before the write was done";
  EXPECT_EQ(stage.get("a"), "2");
}

TEST(EarnedCopies, EndWithTheirTime) {
  ClientOptions options = paying();
  options.expire_after_write = Millis(20);
  Stage stage(options);
  stage.source.write("a", "1");
  stage.get("a");
  stage.source.write("a", "2");
  EXPECT_TRUE(eventually([&] { return stage.get("a") == "2"; }));
}

TEST(EarnedCopies, MakeRoomForEachOtherAndForHotKeys) {
  ClientOptions options = paying();
  options.maximum_size = 2;
  Stage stage(options);
  for (const char* key : {"a", "b", "c"}) stage.get(key);
  EXPECT_EQ(stage.client.stats().copies, 2U);
  EXPECT_FALSE(stage.client.is_kept("a")) << "the oldest";
  stage.warm_up("d");
  stage.warm_up("e");
  EXPECT_EQ(stage.client.stats().copies, 2U);
  EXPECT_FALSE(stage.client.is_kept("b"));
  EXPECT_FALSE(stage.client.is_kept("c"));
  stage.get("f");
  stage.get("f");
  EXPECT_EQ(stage.source.reads, 2) << "there is no room for it";
  EXPECT_TRUE(stage.client.is_hot("d"));
  EXPECT_TRUE(stage.client.is_hot("e"));
}

// Only the load of a hot key is worth an error: it protects the source.
TEST(EarnedCopies, AReaderThatMayNotWaitAsksTheSource) {
  ClientOptions options = paying();
  options.wait_timeout = Millis(1);
  options.maximum_waiters = 1;
  std::promise<void> may_answer;
  const std::shared_future<void> go = may_answer.get_future().share();
  Stage stage(options);
  stage.source.write("a", "1");
  stage.source.before_answer = [&] {
    if (stage.source.reads == 1) go.wait();
  };
  auto leader = std::async(std::launch::async, [&] { return stage.get("a"); });
  EXPECT_TRUE(eventually([&] { return stage.source.reads == 1; }));
  EXPECT_NO_THROW(EXPECT_EQ(stage.get("a"), "1")) << "after wait-timeout";
  EXPECT_EQ(stage.source.reads, 2);
  EXPECT_EQ(stage.client.stats().refusals, 0U);
  may_answer.set_value();
  EXPECT_EQ(leader.get(), "1");
}

TEST(EarnedCopies, AreNotRefreshedInTheBackground) {
  ClientOptions options;
  options.refresh_interval = Millis(10);
  Stage stage(options);
  stage.get("a");
  std::atomic<int> hot{0};
  const auto loader = [&](const std::string&) {
    ++hot;
    return std::optional<std::string>("1");
  };
  const std::vector<std::string> keys = {"hot"};
  ASSERT_THAT(stage.client.warm(keys, loader), IsEmpty());
  EXPECT_TRUE(eventually([&] { return hot > 5; }));
  EXPECT_EQ(stage.source.reads, 1);
}

// The refreshes need its loader, which a reader brings when the earned copy is due.
TEST(EarnedCopies, AKeyThatBecomesHotIsRefreshedFromThenOn) {
  ClientOptions options = eager();
  options.admission = "pays";
  options.refresh_enabled = true;
  options.refresh_interval = Millis(10);
  options.expire_after_write = std::chrono::hours(1);
  Stage stage(options);
  stage.source.write("a", "1");
  ASSERT_TRUE(stage.get_hot("a"));
  stage.source.write("a", "2");
  EXPECT_TRUE(eventually([&] { return stage.get("a") == "2"; }));
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    return stage.client.stats().refreshes > 2;
  }));
}

TEST(EarnedCopies, AKeyThatIsNoLongerHotKeepsItsCopy) {
  ClientOptions options = paying();
  options.tick = Millis(10);
  Stage stage(options);
  stage.source.write("a", "1");
  const std::vector<std::string> keys = {"a"};
  ASSERT_THAT(stage.client.warm(keys, stage.source.loader(), Millis(20)), IsEmpty());
  ASSERT_TRUE(eventually([&] { return !stage.client.is_hot("a"); }));
  EXPECT_EQ(stage.client.peek("a").value(), "1");
}

TEST(EarnedCopies, NothingIsEarnedWhereAccessesAreNotCounted) {
  for (const bool is_cached : {false, true}) {
    ClientOptions options = paying();
    options.cache_enabled = is_cached;
    options.detection_enabled = !is_cached;
    Stage stage(options);
    stage.get("a");
    stage.get("a");
    EXPECT_EQ(stage.source.reads, 2);
  }
}

TEST(EarnedCopies, ANameBeyondTheLimitOfTheRecorderHasNone) {
  Stage stage(paying());
  const std::string name(1025, 'x');
  stage.get(name);
  stage.get(name);
  EXPECT_EQ(stage.source.reads, 2);
}

TEST(EarnedCopies, AfterCloseNothingIsKept) {
  Stage stage(paying());
  stage.get("a");
  stage.client.close();
  stage.get("a");
  stage.get("b");
  stage.get("b");
  EXPECT_EQ(stage.source.reads, 4);
  EXPECT_EQ(stage.client.stats().copies, 0U);
}

}  // namespace
}  // namespace heatsink::client
