// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/client/source_for_test.h"

namespace heatsink::client {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Nothing happens by itself; keys are made hot by warm_up().
ClientOptions quiet() {
  ClientOptions options;
  options.refresh_enabled = false;
  return options;
}

// Whatever is read ten times in a second is hot.
ClientOptions eager() {
  ClientOptions options = quiet();
  options.window = std::chrono::seconds(1);
  options.hot_qps = 10;
  options.warm_qps = 5;
  options.tick = Millis(10);
  options.demotion_interval = Nanos(0);
  return options;
}

struct Stage {
  explicit Stage(const ClientOptions& options = quiet()) : client(options) {}

  std::string get(const std::string& key) {
    return client.get(key, source.loader()).value().value_or("(nil)");
  }
  void warm_up(const std::string& key) {
    const std::vector<std::string> keys = {key};
    ASSERT_THAT(client.warm(keys, source.loader()), IsEmpty());
    source.reads = 0;
  }
  // Reads until detection has noticed.
  bool get_hot(const std::string& key) {
    return eventually([&] {
      get(key);
      return client.is_hot(key);
    });
  }

  Source source;
  Client<> client;
};

TEST(Client, AColdKeyGoesToTheLoaderEachTime) {
  Stage stage;
  stage.source.write("a", "1");
  EXPECT_EQ(stage.get("a"), "1");
  EXPECT_EQ(stage.get("a"), "1");
  EXPECT_EQ(stage.get("none"), "(nil)");
  EXPECT_EQ(stage.source.reads, 3);
  EXPECT_FALSE(stage.client.is_hot("a"));
  EXPECT_FALSE(stage.client.peek("a"));
}

TEST(Client, AKeyThatIsReadOftenBecomesHotAndIsServedLocally) {
  Stage stage(eager());
  stage.source.write("a", "1");
  ASSERT_TRUE(stage.get_hot("a"));
  stage.get("a");
  const int reads = stage.source.reads;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(stage.get("a"), "1");
  EXPECT_EQ(stage.source.reads, reads);
  EXPECT_TRUE(stage.client.get("a", stage.source.loader()).is_hit());
  EXPECT_TRUE(eventually([&] {  // while it is read: the window is a second
    for (int i = 0; i < 100; ++i) stage.get("a");
    const auto top = stage.client.top();
    return !top.empty() && top[0].key == "a" && top[0].rate_low > 10;
  }));
}

TEST(Client, AKeyThatIsReadNoMoreIsDemotedAndItsCopyGoes) {
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

TEST(Client, TellsWhoBecomesHotAndWhoIsNoLonger) {
  ClientOptions options = eager();
  options.minimum_residence = Nanos(0);
  Stage stage(options);
  std::mutex mutex;
  std::vector<std::string> told;
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
  const std::lock_guard lock(mutex);  // more than once, if the machine stood still meanwhile
  for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], i % 2 == 0 ? "+a" : "-a");
}

TEST(Client, ServesACopyUntilItExpires) {
  ClientOptions options = quiet();
  options.expire_after_write = Millis(50);
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.source.write("a", "2");
  EXPECT_TRUE(eventually([&] { return stage.get("a") == "2"; }));
}

TEST(Client, KnowsThatAKeyIsMissing) {
  Stage stage;
  stage.warm_up("none");
  EXPECT_EQ(stage.get("none"), "(nil)");
  EXPECT_EQ(stage.source.reads, 0);
  const auto local = stage.client.get("none", stage.source.loader());
  EXPECT_FALSE(local);
  EXPECT_TRUE(local.is_hit());
}

TEST(Client, AWriteIsSeenAtOnceAndGoesToTheSourceFirst) {
  Stage stage;
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.client.set("a", "2", [&](const std::string& key, const std::string& value) {
    EXPECT_EQ(*stage.client.peek("a"), "1") << "not before the source has it";
    stage.source.write(key, value);
  });
  EXPECT_EQ(stage.get("a"), "2");
  stage.client.del("a", [&](const std::string& key) { stage.source.remove(key); });
  EXPECT_EQ(stage.get("a"), "(nil)");
  EXPECT_EQ(stage.source.reads, 0) << "both were known";
  stage.client.update("a", "3");
  EXPECT_EQ(stage.get("a"), "3");
  stage.client.invalidate("a");
  EXPECT_EQ(stage.get("a"), "(nil)");
  EXPECT_EQ(stage.source.reads, 1);
}

TEST(Client, AWriteOfUnknownOutcomeLeavesNoCopy) {
  Stage stage;
  stage.source.write("a", "1");
  stage.warm_up("a");
  EXPECT_THROW(stage.client.set("a", "2",
                                [&](const std::string& key, const std::string& value) {
                                  stage.source.write(key, value);
                                  throw std::runtime_error("no answer");
                                }),
               std::runtime_error);
  EXPECT_EQ(stage.get("a"), "2");
}

// Two writes at once: nobody can say which the source has in the end.
TEST(Client, OverlappingWritesLeaveNoCopy) {
  Stage stage;
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.client.set("a", "2", [&](const std::string& key, const std::string& value) {
    stage.source.write(key, value);
    stage.client.set("a", "3", [&](const std::string& inner, const std::string& other) {
      stage.source.write(inner, other);
    });
    EXPECT_FALSE(stage.client.peek("a"));
  });
  EXPECT_FALSE(stage.client.peek("a"));
  EXPECT_EQ(stage.get("a"), "3");
}

// The reader has the old value in its hands while a writer writes and is done.
TEST(Client, ALoadThatAWriteOvertookIsNotKept) {
  Stage stage;
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.client.invalidate("a");
  stage.source.before_answer = [&] {
    stage.source.before_answer = nullptr;
    stage.client.set("a", "2", [&](const std::string& key, const std::string& value) {
      stage.source.write(key, value);
    });
  };
  EXPECT_EQ(stage.get("a"), "1") << "it asked before the write was done";
  EXPECT_EQ(stage.get("a"), "2");
}

TEST(Client, OneLoadServesAllWhoWait) {
  ClientOptions options = quiet();
  options.wait_timeout = kPatience;
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.client.invalidate("a");
  std::promise<void> may_answer;
  const std::shared_future<void> go = may_answer.get_future().share();
  stage.source.before_answer = [&] { go.wait(); };
  std::vector<std::future<std::string>> readers;
  for (int i = 0; i < 8; ++i)
    readers.push_back(std::async(std::launch::async, [&] { return stage.get("a"); }));
  EXPECT_TRUE(eventually([&] { return stage.client.stats().waits == 7; }));
  may_answer.set_value();
  for (auto& reader : readers) EXPECT_EQ(reader.get(), "1");
  EXPECT_EQ(stage.source.reads, 1);
}

TEST(Client, WaitsForAnotherNotForEver) {
  ClientOptions options = quiet();
  options.wait_timeout = Millis(5);
  options.maximum_waiters = 1;
  Stage stage(options);
  stage.warm_up("a");
  stage.client.invalidate("a");
  std::promise<void> may_answer;
  const std::shared_future<void> go = may_answer.get_future().share();
  stage.source.before_answer = [&] { go.wait(); };
  auto leader = std::async(std::launch::async, [&] { return stage.get("a"); });
  EXPECT_TRUE(eventually([&] { return stage.source.reads == 1; }));
  EXPECT_THROW(stage.get("a"), LoadRefused);
  may_answer.set_value();
  leader.get();
  EXPECT_EQ(stage.client.stats().refusals, 1U);
}

TEST(Client, PassesOnWhatTheLoaderThrows) {
  Stage stage;
  stage.source.is_down = true;
  EXPECT_THROW(stage.get("a"), std::runtime_error);
  stage.source.is_down = false;
  stage.warm_up("a");
  stage.client.invalidate("a");
  stage.source.is_down = true;
  EXPECT_THROW(stage.get("a"), std::runtime_error) << "a hot key's as well";
  stage.source.is_down = false;
  EXPECT_EQ(stage.get("a"), "(nil)") << "an error is not kept";
}

TEST(Client, ServesAStaleCopyWhileTheSourceFailsIfAsked) {
  ClientOptions options = quiet();
  options.expire_after_write = Millis(1);
  options.stale_while_error = std::chrono::hours(1);
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.source.is_down = true;
  EXPECT_TRUE(eventually([&] { return stage.get("a") == "1" && stage.source.reads > 0; }));
  EXPECT_GT(stage.client.stats().stale_served, 0U);
}

TEST(Client, RefreshesHotKeysInTheBackground) {
  ClientOptions options;
  options.refresh_interval = Millis(10);
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.source.write("a", "2");
  EXPECT_TRUE(eventually([&] { return stage.client.peek("a").value() == "2"; }));
  EXPECT_TRUE(eventually([&] { return stage.client.stats().refreshes > 0; }));
}

TEST(Client, DropsAKeyWhoseRefreshesFailAndTakesItUpAgainWhenItIsLoaded) {
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

// With the copy goes the loader.
TEST(Client, OfADemotedKeyNothingIsLoadedAnyMore) {
  ClientOptions options;
  options.refresh_interval = Millis(10);
  options.tick = Millis(10);
  Stage stage(options);
  std::atomic<int> demoted{0}, other{0};
  const auto loader = [&](const std::string& key) {
    ++(key == "demoted" ? demoted : other);
    return std::optional<std::string>("1");
  };
  const std::vector<std::string> keys = {"demoted"}, others = {"other"};
  ASSERT_THAT(stage.client.warm(keys, loader, Millis(100)), IsEmpty());
  ASSERT_TRUE(eventually([&] { return demoted > 1; }));
  ASSERT_TRUE(eventually([&] { return !stage.client.is_hot("demoted"); }));
  const int before = demoted;
  ASSERT_THAT(stage.client.warm(others, loader), IsEmpty());
  EXPECT_TRUE(eventually([&] { return other > 10; }));
  EXPECT_LE(demoted, before + 1) << "one may have been under way";
}

TEST(Client, RefreshesNoMoreKeysAtOnceThanItHasThreads) {
  ClientOptions options;
  options.refresh_threads = 2;
  options.refresh_interval = Millis(10);
  Stage stage(options);
  std::atomic<int> at_once{0}, most{0}, done{0};
  const auto loader = [&](const std::string&) {
    const int now = ++at_once;
    int known = most;
    while (now > known && !most.compare_exchange_weak(known, now)) {
    }
    eventually([&] { return at_once == 2 || done > 0; });  // both are busy
    --at_once;
    ++done;
    return std::optional<std::string>("1");
  };
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"};
  ASSERT_THAT(stage.client.warm(keys, loader), IsEmpty());
  EXPECT_TRUE(eventually([&] { return done > 20; }));
  EXPECT_EQ(most, 2);
}

TEST(Client, AKeyThatFailsDoesNotKeepOthersFromBeingRefreshed) {
  ClientOptions options;
  options.refresh_threads = 1;
  options.refresh_interval = Millis(10);
  options.max_failures = 1000;
  Stage stage(options);
  std::atomic<int> good{0}, bad{0};
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

TEST(Client, ForgetsAHotKeyThatNobodyAsksForWhateverItsResidence) {
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

TEST(Client, KeepsCopiesWithinTheirLimitOfBytes) {
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

TEST(Client, TellsEachIntervalHowItIs) {
  ClientOptions options = eager();
  options.report_interval = Millis(20);
  Stage stage(options);
  std::atomic<int> reports{0};
  std::atomic<std::uint64_t> reads{0};
  stage.client.on_report([&](const Stats& stats) {
    reads = stats.reads;
    ++reports;
  });
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    return reports > 2 && reads > 0;
  }));
  EXPECT_THAT(stage.client.metrics_text(), HasSubstr("\nheatsink_cache_entries "));
}

TEST(Client, TellsTotalsAndTheLastWindow) {
  Stage stage(eager());
  stage.source.write("a", "1");
  stage.warm_up("a");
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    const Stats stats = stage.client.stats();
    return stats.hits > 0 && stats.in_window.hits > 0 && stats.in_window.loads == 1;
  }));
  EXPECT_TRUE(eventually([&] { return stage.client.stats().in_window.loads == 0; }));
  EXPECT_EQ(stage.client.stats().loads, 1U);
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    stage.get("b");
    return stage.client.stats().distinct_keys > 1.9;
  }));
  EXPECT_LT(stage.client.stats().distinct_keys, 2.1);
}

TEST(Client, WarmedKeysCoolDownWhenTheirTimeIsOver) {
  ClientOptions options = quiet();
  options.tick = Millis(10);
  Stage stage(options);
  const std::vector<std::string> keys = {"a"};
  stage.client.warm(keys, stage.source.loader(), Millis(20));
  EXPECT_TRUE(eventually([&] { return !stage.client.is_hot("a"); }));
}

TEST(Client, WarmsNoMoreKeysThanItKeeps) {
  ClientOptions options = quiet();
  options.maximum_size = 2;
  Stage stage(options);
  const std::vector<std::string> keys = {"a", "b", "c"};
  EXPECT_THAT(stage.client.warm(keys, stage.source.loader()), ::testing::ElementsAre("c"));
}

TEST(Client, WhatIsBeingReadOutlivesTheClient) {
  auto stage = std::make_unique<Stage>();
  stage->source.write("a", "1");
  stage->warm_up("a");
  const auto local = stage->client.get("a", stage->source.loader());
  stage.reset();
  EXPECT_EQ(*local, "1");
}

TEST(Client, IsClosedOnceAndForAll) {
  Stage stage;
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.client.close();
  stage.client.close();
  EXPECT_FALSE(stage.client.peek("a"));
  EXPECT_EQ(stage.get("a"), "1");
  EXPECT_EQ(stage.source.reads, 1);
}

TEST(Client, ValuesAreOfAnyType) {
  struct Product {
    int price;
  };
  const Client<Product> client(quiet());
  const auto loader = [](const std::string& key) {
    return key == "shoe" ? std::optional<Product>(Product{99}) : std::nullopt;
  };
  const std::vector<std::string> keys = {"shoe"};
  EXPECT_THAT(client.warm(keys, loader), IsEmpty());
  const auto product = client.get("shoe", loader);
  ASSERT_TRUE(product);
  EXPECT_TRUE(product.is_hit());
  EXPECT_EQ(product->price, 99);
  EXPECT_FALSE(client.get("hat", loader));
}

TEST(Client, CountsReadsHitsAndHotTraffic) {
  Stage stage(eager());
  stage.source.write("a", "1");
  ASSERT_TRUE(stage.get_hot("a"));
  EXPECT_TRUE(eventually([&] {
    stage.get("a");
    const Stats stats = stage.client.stats();
    return stats.hit_ratio > 0.5 && stats.hot_share > 0.5 && stats.reads_per_second > 10;
  }));
}

}  // namespace
}  // namespace heatsink::client
