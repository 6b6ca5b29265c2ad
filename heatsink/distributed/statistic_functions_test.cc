// SPDX-License-Identifier: Apache-2.0
// The server's handling of parts, with a clock that the test moves.
#include "heatsink/distributed/statistic_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "heatsink/distributed/server.h"
#include "heatsink/distributed/statistic_form.h"
#include "heatsink/distributed/statistic_key.h"
#include "heatsink/distributed/statistic_reading.h"
#include "heatsink/distributed/summary_for_test.h"
#include "heatsink/distributed/times_for_test.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::distributed {
namespace {

using testing::HasSubstr;

class StatisticFunctionsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_.running()) GTEST_SKIP() << "redis-server is not installed";
    open("");
    set_clock(1'000'000);
  }
  void open(const std::string& who) {
    ServerOptions options;
    options.url = "unix://" + who + redis_.socket_path();
    options.response_timeout = kPatience;
    server_ = std::move(Server::open(options)).value();
  }
  void set_clock(std::int64_t ms) {
    ask({"MSET", "clock:s", std::to_string(ms / 1000), "clock:us",
         std::to_string(ms % 1000 * 1000)});
  }
  Result<resp::Value> call(std::string_view name, std::vector<std::string> args) {
    return server_->call_and_wait({&library_->function(name), {key_}, std::move(args)},
                                  BootClock::now() + kPatience);
  }
  // Whether it was counted.
  bool add(const std::string& writer, int sequence, const stats::Summary& numbers,
           std::int64_t slot_ms = 1000) {
    const auto reply = call("add", {writer, std::to_string(sequence), std::to_string(slot_ms), "60",
                                    encode_part(numbers)});
    EXPECT_TRUE(reply.ok()) << reply.error().message;
    return reply.ok() && reply->items.at(0).integer == 1;
  }
  stats::Summary read(std::int64_t window_ms = 60'000) {
    const auto reading = parse_reading(call("read", {std::to_string(window_ms)}).value());
    EXPECT_TRUE(reading.ok()) << reading.error().message;
    return reading.ok() && *reading ? (*reading)->summary : stats::Summary();
  }
  std::string ask(std::initializer_list<std::string_view> args) const { return redis_.ask(args); }
  std::int64_t number_said(std::initializer_list<std::string_view> args) const {
    return std::stoll(ask(args).substr(1));
  }

  std::string key_ = statistic_key("test", 0);
  const std::unique_ptr<FunctionLibrary> library_ =
      statistic_functions_by("redis.call('MGET', 'clock:s', 'clock:us')");
  resp::testing::RedisProcess redis_;
  std::unique_ptr<Server> server_;
};

TEST_F(StatisticFunctionsTest, AddsWhatWritersAdd) {
  EXPECT_TRUE(add("a", 1, summary_of({1, 2, 3})));
  EXPECT_TRUE(add("b", 1, summary_of({-5})));
  EXPECT_TRUE(add("a", 2, summary_of({1'000'000})));
  EXPECT_EQ(read(), summary_of({1, 2, 3, -5, 1'000'000}));
}

TEST_F(StatisticFunctionsTest, NothingIsNothing) {
  const auto reading = parse_reading(call("read", {"60000"}).value());
  ASSERT_TRUE(reading.ok());
  EXPECT_FALSE(reading.value().has_value());
}

TEST_F(StatisticFunctionsTest, WhatComesTwiceCountsOnce) {
  EXPECT_TRUE(add("a", 1, summary_of({1})));
  EXPECT_FALSE(add("a", 1, summary_of({1})));
  EXPECT_TRUE(add("a", 2, summary_of({2})));
  EXPECT_FALSE(add("a", 1, summary_of({1})));
  set_clock(1'010'000);  // many slots later, it is still known
  EXPECT_FALSE(add("a", 2, summary_of({2})));
  EXPECT_EQ(read(), summary_of({1, 2}));
}

TEST_F(StatisticFunctionsTest, NumbersLeaveWithTheirSlot) {
  add("a", 1, summary_of({1}));
  set_clock(1'001'000);
  add("a", 2, summary_of({2}));
  set_clock(1'059'999);
  EXPECT_EQ(read(), summary_of({1, 2}));
  set_clock(1'060'000);
  EXPECT_EQ(read(), summary_of({2}));
  set_clock(1'061'000);
  EXPECT_EQ(read().count, 0U);
}

TEST_F(StatisticFunctionsTest, AnyShorterWindow) {
  for (int i = 0; i < 60; ++i) {
    set_clock(1'000'000 + i * 1000);
    add("a", i + 1, summary_of({i}));
  }
  EXPECT_EQ(read(1).count, 1U);  // the slot of now
  EXPECT_EQ(read(1000).count, 1U);
  EXPECT_EQ(read(1001).count, 2U);
  EXPECT_EQ(read(10'000).min, 50);
  EXPECT_EQ(read(3'600'000).count, 60U);
}

TEST_F(StatisticFunctionsTest, PartsAreMergedAsTheyAre) {
  std::mt19937_64 random(1);
  stats::Summary all;
  for (int slot = 0; slot < 5; ++slot) {
    set_clock(1'000'000 + slot * 1000);
    for (int i = 0; i < 40; ++i) {
      std::vector<std::int64_t> values = {static_cast<std::int64_t>(random()), i - 20, 1000 * i};
      add("a", slot * 40 + i + 1, summary_of(values));
      all.merge(summary_of(values));
    }
  }
  add("b", 1, summary_of({INT64_MIN, INT64_MAX}));
  all.merge(summary_of({INT64_MIN, INT64_MAX}));
  EXPECT_EQ(read(), all);
}

// Sums never exceed the integers of a double: a merged sum has digits of 32 bits again.
TEST_F(StatisticFunctionsTest, SumsAreCarried) {
  for (int i = 1; i <= 40; ++i) add("a", i, summary_of({0xFFFFFFFF, INT64_MIN}));
  EXPECT_EQ(read().sum, 40 * (stats::Sum{0xFFFFFFFF} + INT64_MIN));
  set_clock(1'001'000);  // the slot is over, and its parts are one
  add("a", 41, summary_of({1}));
  const std::string looks =
      "local _, part = cmsgpack.unpack(redis.call('HGET', KEYS[1], ARGV[1])) "
      "for i = 1, 3 do if part[i] < 0 or part[i] >= 4294967296 then return i end end return 0";
  const std::string digits = ask({"EVAL", looks, "1", key_, std::to_string(1000 % 60)});
  EXPECT_EQ(digits, ":0\r\n");
}

TEST_F(StatisticFunctionsTest, ASlotThatComesRoundIsNew) {
  add("a", 1, summary_of({1}));
  set_clock(1'060'000);
  add("a", 2, summary_of({2}));
  EXPECT_EQ(read(), summary_of({2}));
}

TEST_F(StatisticFunctionsTest, TimeThatGoesBackStandsStill) {
  set_clock(1'030'000);
  add("a", 1, summary_of({1}));
  set_clock(1'000'000);
  add("a", 2, summary_of({2}));
  EXPECT_EQ(read(), summary_of({1, 2}));
  set_clock(1'089'999);
  EXPECT_EQ(read(), summary_of({1, 2}));
  set_clock(1'090'000);
  EXPECT_EQ(read().count, 0U);
}

TEST_F(StatisticFunctionsTest, AWrongTimeIsForgottenAndWritersAreNot) {
  set_clock(100'000'000);
  add("a", 1, summary_of({1}));
  set_clock(1'000'000);
  EXPECT_FALSE(add("a", 1, summary_of({1})));
  EXPECT_TRUE(add("a", 2, summary_of({2})));
  EXPECT_EQ(read(), summary_of({2}));
}

TEST_F(StatisticFunctionsTest, ExpiresByItself) {
  add("a", 1, summary_of({1}));
  const std::int64_t left = number_said({"PTTL", key_});
  EXPECT_GT(left, 0);
  EXPECT_LE(left, 61'000);
}

TEST_F(StatisticFunctionsTest, WritersThatAreGoneAreForgotten) {
  for (int i = 0; i < 100; ++i) add("writer" + std::to_string(i), 1, summary_of({1}));
  EXPECT_EQ(number_said({"HLEN", key_}), 102);
  for (int window = 1; window <= 3; ++window) {
    set_clock(1'000'000 + window * 60'000);
    add("a", window, summary_of({1}));
  }
  EXPECT_LE(number_said({"HLEN", key_}), 5);
}

TEST_F(StatisticFunctionsTest, AnotherLengthIsRefused) {
  add("a", 1, summary_of({1}));
  const auto reply = call("add", {"b", "1", "2000", "60", encode_part(summary_of({2}))});
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(reply.error().message, HasSubstr("keep this statistic for 60000 ms, not for 120000"));
  EXPECT_EQ(read(), summary_of({1}));
}

TEST_F(StatisticFunctionsTest, WhoMayNotIsTold) {
  ask({"ACL", "SETUSER", "clerk", "on", ">secret", "~*", "+@all", "-hset"});
  open("clerk:secret@");
  const auto reply = call("add", {"a", "1", "1000", "60", encode_part(summary_of({1}))});
  ASSERT_FALSE(reply.ok());
  EXPECT_THAT(reply.error().message, HasSubstr("can't run this command"));
}

// 10^6 numbers over three decades, by as many writers as there are shards.
TEST_F(StatisticFunctionsTest, AMillionNumbersFitInABound) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> tail(7, 1);
  std::uint64_t count = 0;
  std::int64_t bytes = 0;
  for (std::uint32_t shard = 0; shard < kStatisticShards; ++shard) {
    key_ = statistic_key("test", shard);
    for (int slot = 0, sequence = 0; slot < 60; ++slot) {
      set_clock(1'000'000 + slot * 1000);
      for (int flush = 0; flush < 10; ++flush) {
        stats::Summary numbers;
        for (int i = 0; i < 417; ++i) numbers.add(static_cast<std::int64_t>(tail(random)));
        add("a", ++sequence, numbers);
      }
    }
    count += read().count;
    bytes += number_said({"MEMORY", "USAGE", key_, "SAMPLES", "0"});
  }
  EXPECT_EQ(count, 1'000'800U);
  EXPECT_LT(bytes, 200'000);
}

}  // namespace
}  // namespace heatsink::distributed
