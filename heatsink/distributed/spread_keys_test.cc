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
#include "heatsink/spread/spread.h"

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
  std::unique_ptr<SpreadKeys> keys() const {
    return SpreadKeys::make(server_,
                            {.copies = 4, .ttl = std::chrono::seconds(60), .timeout = kPatience})
        .value();
  }
  std::unique_ptr<SplitCounter> counter(std::string_view key) const {
    return SplitCounter::make(server_, key, {.parts = 8, .timeout = kPatience}).value();
  }

  resp::testing::RedisProcess redis_;
  std::shared_ptr<Server> server_;
};

TEST_F(SpreadKeysTest, ReadsAreFromCopiesUntilAWriteEndsThem) {
  const auto keys = this->keys();
  ask({"SET", "k", "one"});
  for (int i = 0; i < 40; ++i) EXPECT_EQ(*keys->get("k").value(), "one");
  ask({"SET", "k", "two"});  // past the class: the copies have the old value
  EXPECT_EQ(*keys->get("k").value(), "one");
  ASSERT_TRUE(keys->written("k").ok());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(*keys->get("k").value(), "two");
}

TEST_F(SpreadKeysTest, MissingKeysAndWrongTypes) {
  const auto keys = this->keys();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(keys->get("none").value(), std::nullopt);
  ask({"LPUSH", "list", "a"});
  EXPECT_FALSE(keys->get("list").ok());
}

TEST_F(SpreadKeysTest, ACopyEndsWithItsKey) {
  const auto keys = this->keys();
  ask({"SET", "k", "v", "PX", "100"});
  for (int i = 0; i < 20; ++i) static_cast<void>(keys->get("k"));
  const auto ends = [](const auto& has_ended) {
    const TimePoint late = BootClock::now() + kPatience;
    while (BootClock::now() < late) {
      if (has_ended()) return true;  // once: the next read may meet another copy
      std::this_thread::yield();
    }
    return false;
  };
  EXPECT_TRUE(ends([this] { return ask({"EXISTS", "k"}) == ":0\r\n"; }));
  // A copy may end later than its key by the time between the read and the fill.
  EXPECT_TRUE(ends([&] { return keys->get("k").value() == std::nullopt; }));
}

TEST_F(SpreadKeysTest, ALayoutOfAnotherVersionMeansNoCopies) {
  const auto keys = this->keys();
  ask({"SET", spread::layout_name("k"), "hs9 ?"});
  ask({"SET", "k", "v"});
  EXPECT_EQ(*keys->get("k").value(), "v");
  ask({"SET", "k", "w"});
  EXPECT_EQ(*keys->get("k").value(), "w");
}

TEST_F(SpreadKeysTest, LongValuesAndKeysHaveNoCopies) {
  const auto keys = this->keys();
  const std::string value(kSpreadValueBytesMax + 1, 'x');
  const std::string key(kSpreadKeyBytesMax + 1, 'k');
  ask({"SET", "k", value});
  ask({"SET", key, "v"});
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(*keys->get("k").value(), value);
    EXPECT_EQ(*keys->get(key).value(), "v");
  }
  ask({"SET", "k", "w"});
  EXPECT_EQ(*keys->get("k").value(), "w");
  EXPECT_TRUE(keys->written(key).ok());
}

TEST_F(SpreadKeysTest, AServerThatIsGone) {
  const auto keys = SpreadKeys::make(server_, {.timeout = Millis(50)}).value();
  redis_.stop();
  EXPECT_FALSE(keys->get("k").ok());
  EXPECT_FALSE(keys->written("k").ok());
}

TEST_F(SpreadKeysTest, ACounterInParts) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      const auto counter = this->counter("n");
      for (int j = 0; j < 100; ++j) EXPECT_TRUE(counter->add(2).ok());
    });
  for (std::thread& thread : threads) thread.join();
  const auto counter = this->counter("n");
  EXPECT_EQ(counter->value().value(), 800);
  EXPECT_EQ(this->counter("m")->value().value(), 0);
  ask({"SET", "n", "x"});
  EXPECT_EQ(counter->value().error().code, ErrorCode::kInvalidArgument);
  ask({"SET", "n", "9223372036854775807"});
  EXPECT_EQ(counter->value().error().code, ErrorCode::kOutOfRange);
}

TEST(SpreadOptions, AreChecked) {
  const auto fault = [](const SpreadOptions& options) {
    const auto made = SpreadKeys::make(nullptr, options);
    return made.ok() ? std::string() : made.error().message;
  };
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({.copies = 1}), "copies is 1, but must be from 2 to 64");
  EXPECT_EQ(fault({.copies = 65}), "copies is 65, but must be from 2 to 64");
  EXPECT_EQ(fault({.ttl = Millis(99)}), "ttl is 99ms, but must be from 100ms to 1m");
  EXPECT_EQ(fault({.ttl = std::chrono::minutes(2)}), "ttl is 2m, but must be from 100ms to 1m");
  EXPECT_EQ(fault({.timeout = Nanos(0)}), "timeout is 0, but must be longer than 0 and at most 1h");
  EXPECT_FALSE(SplitCounter::make(nullptr, "k", {.parts = 1}).ok());
  EXPECT_FALSE(SplitCounter::make(nullptr, "k", {.timeout = std::chrono::hours(2)}).ok());
  const std::string key(kSpreadKeyBytesMax + 1, 'k');
  EXPECT_FALSE(SplitCounter::make(nullptr, key, {}).ok());
  EXPECT_TRUE(SplitCounter::make(nullptr, "k", {}).ok());
}

}  // namespace
}  // namespace heatsink::distributed
