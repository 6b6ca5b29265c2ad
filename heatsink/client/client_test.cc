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

#include "heatsink/client/stage_for_test.h"

namespace heatsink::client {
namespace {

using ::testing::IsEmpty;

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
  EXPECT_TRUE(eventually([&] {  // while it reads: the window is one second
    for (int i = 0; i < 100; ++i) stage.get("a");
    const auto top = stage.client.top();
    return !top.empty() && top[0].key == "a" && top[0].rate_low > 10;
  }));
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

// Two overlapping writes: the final value of the source is unknown.
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

// The reader holds the old value while a writer begins and ends its write.
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
  std::promise<void> may_answer;
  const std::shared_future<void> go = may_answer.get_future().share();
  Stage stage(options);
  stage.source.write("a", "1");
  stage.warm_up("a");
  stage.client.invalidate("a");
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
  std::promise<void> may_answer;
  const std::shared_future<void> go = may_answer.get_future().share();
  Stage stage(options);
  stage.warm_up("a");
  stage.client.invalidate("a");
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

}  // namespace
}  // namespace heatsink::client
