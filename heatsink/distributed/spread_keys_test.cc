// SPDX-License-Identifier: Apache-2.0
// Copies and parts on a real server: one that has all slots.
#include "heatsink/distributed/spread_keys.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/distributed/times_for_test.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::distributed {
namespace {

class SpreadKeysTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_.running()) GTEST_SKIP() << "redis-server is not installed";
    ServerOptions options;
    options.url = "unix://" + redis_.socket_path();
    options.response_timeout = kPatience;
    Result<std::unique_ptr<Server>> opened = Server::open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    server_ = std::move(opened).value();
  }
  std::string ask(std::initializer_list<std::string_view> args) const { return redis_.ask(args); }
  SpreadOptions options() const {
    return {.copies = 4, .ttl = std::chrono::seconds(60), .timeout = kPatience};
  }

  resp::testing::RedisProcess redis_;
  std::unique_ptr<Server> server_;
};

TEST_F(SpreadKeysTest, ReadsAreFromCopiesUntilAWriteEndsThem) {
  SpreadKeys keys(*server_, options(), 1);
  ask({"SET", "k", "one"});
  for (int i = 0; i < 40; ++i) EXPECT_EQ(*keys.get("k").value(), "one");
  ask({"SET", "k", "two"});  // past the class: the copies have the old value
  EXPECT_EQ(*keys.get("k").value(), "one");
  ASSERT_TRUE(keys.written("k").ok());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(*keys.get("k").value(), "two");
}

TEST_F(SpreadKeysTest, MissingKeysAndWrongTypes) {
  SpreadKeys keys(*server_, options(), 1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(keys.get("none").value(), std::nullopt);
  ask({"LPUSH", "list", "a"});
  EXPECT_FALSE(keys.get("list").ok());
}

TEST_F(SpreadKeysTest, ACopyEndsWithItsKey) {
  SpreadKeys keys(*server_, options(), 1);
  ask({"SET", "k", "v", "PX", "100"});
  for (int i = 0; i < 20; ++i) static_cast<void>(keys.get("k"));
  const auto ends = [](const auto& has_ended) {
    const TimePoint late = BootClock::now() + kPatience;
    while (!has_ended() && BootClock::now() < late) std::this_thread::yield();
    return has_ended();
  };
  EXPECT_TRUE(ends([this] { return ask({"EXISTS", "k"}) == ":0\r\n"; }));
  // A copy may end later than its key by the time between the read and the fill.
  EXPECT_TRUE(ends([&] { return keys.get("k").value() == std::nullopt; }));
}

TEST_F(SpreadKeysTest, ALayoutOfAnotherVersionMeansNoCopies) {
  SpreadKeys keys(*server_, options(), 1);
  ask({"SET", spread::layout_name("k"), "hs9 ?"});
  ask({"SET", "k", "v"});
  EXPECT_EQ(*keys.get("k").value(), "v");
  ask({"SET", "k", "w"});
  EXPECT_EQ(*keys.get("k").value(), "w");
}

TEST_F(SpreadKeysTest, ACounterInParts) {
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    threads.emplace_back([this, seed] {
      SplitCounter counter(*server_, "n", 8, kPatience, seed);
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(counter.add(2).ok());
    });
  for (std::thread& thread : threads) thread.join();
  SplitCounter counter(*server_, "n", 8, kPatience, 9);
  EXPECT_EQ(counter.value().value(), 800);
  EXPECT_EQ(SplitCounter(*server_, "m", 8, kPatience, 9).value().value(), 0);
  ask({"SET", "n", "x"});
  EXPECT_EQ(counter.value().error().code, ErrorCode::kInvalidArgument);
  ask({"SET", "n", "9223372036854775807"});
  EXPECT_EQ(counter.value().error().code, ErrorCode::kOutOfRange);
}

}  // namespace
}  // namespace heatsink::distributed
