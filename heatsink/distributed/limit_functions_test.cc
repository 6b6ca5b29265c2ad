// SPDX-License-Identifier: Apache-2.0
// The functions as a real server runs them, by a clock that the test sets, against the definitions.
#include "heatsink/distributed/limit_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::distributed {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Today, as a server says it: a double holds it to a quarter of a microsecond.
constexpr TimePoint kToday{std::chrono::microseconds(1'790'000'000'000'000)};

// The server would end keys by its own clock.
const FunctionLibrary& by_test_clock() {
  static const FunctionLibrary library = limit_library(R"lua(
    local function server() return redis end  -- another one at load than in a call
    local redis = {register_function = server().register_function}
    function redis.call(command, key, value)
      if command == 'SET' then return server().call('SET', key, value) end
      return server().call(command, key)
    end
    local function now_us() return tonumber(redis.call('GET', 'clock')) end)lua");
  return library;
}

struct Ask {
  TimePoint now;
  LimitQuestion question{};
};

// One server for all tests of this file; each uses a key of its own.
class Table {
 public:
  Table() {
    request({"FUNCTION", "LOAD", by_test_clock().source()});
    request({"FUNCTION", "LOAD", limit_library().source()});
    if (redis_.running()) redis_.ask(take());
  }
  bool running() const { return redis_.running(); }
  static std::string new_key() {
    static int last = 0;
    return "key" + std::to_string(++last);
  }

  // All on one connection, so a property costs a round trip.
  std::vector<LimitAnswer> answers(const limit::LimiterOptions& options, const std::string& key,
                                   const std::vector<Ask>& asks, bool as_script = false) {
    for (const Ask& each : asks) {
      request({"SET", "clock", std::to_string(each.now.time_since_epoch().count() / 1000)});
      call(limit_call(by_test_clock(), options, key, each.question), as_script);
    }
    const std::string said = redis_.ask(take());
    std::string_view rest = said;
    std::vector<LimitAnswer> answers;
    for (std::size_t i = 0; i < 2 * asks.size(); ++i) {
      resp::Value value;
      std::size_t consumed = 0;
      EXPECT_EQ(resp::parse_value(rest, value, consumed), resp::ValueStatus::kValue) << said;
      rest.remove_prefix(consumed);
      if (i % 2 == 0) continue;
      const Result<LimitAnswer> answer = limit_answer(value);
      EXPECT_TRUE(answer.ok()) << value.text;
      answers.push_back(answer.ok() ? *answer : LimitAnswer{});
    }
    return answers;
  }
  LimitAnswer answer(const limit::LimiterOptions& options, const std::string& key, const Ask& ask) {
    return answers(options, key, {ask}).front();
  }
  std::string call(const FunctionCall& what) {
    call(what, false);
    return redis_.ask(take());
  }
  std::string ask(std::initializer_list<std::string_view> args) {
    request(args);
    return redis_.ask(take());
  }

 private:
  void request(std::initializer_list<std::string_view> args) { resp::append_request(out_, args); }
  void call(const FunctionCall& what, bool as_script) {
    std::vector<std::string_view> all = {as_script ? "EVAL" : "FCALL",
                                         as_script ? what.function->script : what.function->name,
                                         "1", what.keys.front()};
    all.insert(all.end(), what.args.begin(), what.args.end());
    resp::append_request(out_, all);
  }
  std::string take() {
    std::string all(out_.view());
    out_.clear();
    return all;
  }

  resp::testing::RedisProcess redis_;
  ByteBuffer out_;
};

Table& table() {
  static Table table;
  return table;
}

class LimitFunctions : public testing::Test {
 protected:
  void SetUp() override {
    if (!table().running()) GTEST_SKIP() << "redis-server is not installed";
  }
};

limit::LimiterOptions bucket(limit::Rate rate, std::uint64_t burst) {
  return {.algorithm = limit::Algorithm::kTokenBucket, .rate = rate, .burst = burst};
}
limit::LimiterOptions window(limit::Rate rate, std::uint32_t slots) {
  return {.algorithm = limit::Algorithm::kSlidingWindow, .rate = rate, .slots = slots};
}

TEST_F(LimitFunctions, ABurstPassesAtOnceAndNotOneMore) {
  const std::string key = Table::new_key();
  const auto options = bucket({10, 1s}, 3);
  const auto told = table().answers(options, key, std::vector<Ask>(4, {kToday}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(told[i].granted, 1U);
    EXPECT_EQ(told[i].remaining, 2 - i);
  }
  EXPECT_EQ(told[3].granted, 0U);
  EXPECT_EQ(told[3].retry_after, 100ms);
  EXPECT_EQ(table().answer(options, key, {kToday + 99'999us}).granted, 0U);
  EXPECT_EQ(table().answer(options, key, {kToday + 100ms}).granted, 1U);
}

TEST_F(LimitFunctions, WantedAreGivenAsFarAsThereAre) {
  for (const auto& options : {bucket({10, 1s}, 8), window({8, 1s}, 10)}) {
    const std::string key = Table::new_key();
    EXPECT_EQ(table().answer(options, key, {kToday, {2, 6}}).granted, 6U);
    EXPECT_EQ(table().answer(options, key, {kToday, {3, 9}}).granted, 0U);
    EXPECT_EQ(table().answer(options, key, {kToday, {1, 9}}).granted, 2U);
  }
}

TEST_F(LimitFunctions, AskingForNothingTakesNothingAndWritesNothing) {
  for (const auto& options : {bucket({10, 1s}, 8), window({8, 1s}, 10)}) {
    const std::string key = Table::new_key();
    const LimitAnswer told = table().answer(options, key, {kToday, {0, 0}});
    EXPECT_EQ(told.remaining, 8U);
    EXPECT_EQ(told.retry_after, 0ns);
    EXPECT_EQ(table().ask({"EXISTS", key}), ":0\r\n");
  }
}

TEST_F(LimitFunctions, WhatIsKeptIsSmallAndEnds) {
  const std::string one = Table::new_key(), other = Table::new_key();
  table().call(limit_call(limit_library(), bucket({10, 1s}, 5), one, {5, 5}));
  table().call(limit_call(limit_library(), window({10, 1s}, 10), other, {}));
  EXPECT_EQ(table().ask({"STRLEN", one}), ":16\r\n");
  EXPECT_EQ(table().ask({"STRLEN", other}), ":60\r\n");
  // 5 at 10/s are gone after half a second; 11 slots of 100 ms and a second.
  EXPECT_EQ(table().ask({"OBJECT", "ENCODING", one}), "$6\r\nembstr\r\n");
  const auto ttl_ms = [&](const std::string& key) {
    return std::stoi(table().ask({"PTTL", key}).substr(1));
  };
  EXPECT_LE(ttl_ms(one), 501);
  EXPECT_LE(ttl_ms(other), 2100);
  EXPECT_GT(ttl_ms(other), 0);
}

TEST_F(LimitFunctions, AClockSetBackGivesNothingNew) {
  const std::string key = Table::new_key();
  const auto options = bucket({1, 1h}, 10);
  const auto told = table().answers(
      options, key,
      {{kToday, {10, 10}}, {kToday - 500ms}, {kToday - 2h}, {kToday - 1h - 1s}, {kToday - 1h}});
  EXPECT_EQ(told[0].granted, 10U);
  EXPECT_EQ(told[1].granted, 0U);  // stands still
  EXPECT_EQ(told[1].retry_after, 1h + 500ms);
  EXPECT_EQ(told[2].granted, 0U);  // goes on from here
  EXPECT_EQ(told[3].granted, 0U);
  EXPECT_EQ(told[4].granted, 1U);
}

TEST_F(LimitFunctions, AWindowWhoseClockIsSetFarBackBeginsAnew) {
  const std::string key = Table::new_key();
  const auto told = table().answers(window({2, 1s}, 10), key,
                                    {{kToday, {2, 2}}, {kToday - 1500ms}, {kToday - 1h}});
  EXPECT_EQ(told[1].granted, 0U);
  EXPECT_EQ(told[2].granted, 1U);
}

TEST_F(LimitFunctions, AsScriptsTheyAreTheSame) {
  for (const auto& options : {bucket({10, 1s}, 3), window({3, 1s}, 10)}) {
    const auto told =
        table().answers(options, Table::new_key(), std::vector<Ask>(4, {kToday}), true);
    EXPECT_EQ(told[2].granted, 1U);
    EXPECT_EQ(told[3].granted, 0U);
  }
}

TEST_F(LimitFunctions, ByTheServersOwnClock) {
  const FunctionCall call = limit_call(limit_library(), bucket({1, 1h}, 1), Table::new_key(), {});
  EXPECT_EQ(table().call(call), "*3\r\n:1\r\n:0\r\n:0\r\n");
  EXPECT_THAT(table().call(call), HasSubstr("*3\r\n:0\r\n:0\r\n:35"));  // just under 3600 s
}

TEST_F(LimitFunctions, TheKeyOfSomethingElseIsAnError) {
  const std::string key = Table::new_key();
  table().ask({"LPUSH", key, "x"});
  EXPECT_THAT(table().call(limit_call(limit_library(), bucket({1, 1s}, 1), key, {})),
              HasSubstr("WRONGTYPE"));
}

std::vector<Ask> random_asks(const limit::Rate& rate, std::uint64_t capacity) {
  const double mean_gap_us = 1e6 / rate.per_second();
  std::vector<Ask> asks;
  TimePoint now = kToday;
  for (int i = 0; i < 200; ++i) {
    const double gaps = *rc::gen::inRange(0, 400) * 0.01;
    now += std::chrono::microseconds(static_cast<std::int64_t>(gaps * mean_gap_us));
    const auto n = *rc::gen::inRange<std::uint64_t>(1, std::min<std::uint64_t>(capacity, 4) + 1);
    asks.push_back({now, {n, n + *rc::gen::inRange<std::uint64_t>(0, 4)}});
  }
  return asks;
}

// In whole numbers: a level of tokens x per, in microseconds. What is let pass by `slack` is a
// millionth of a token, and is in the level afterwards.
RC_GTEST_PROP(LimitFunctionsProperty, TheBucketIsTheExactOneToAMillionth, ()) {
  if (!table().running()) return;
  __extension__ using Wide = __int128;
  const limit::Rate rate =
      *rc::gen::element(limit::Rate{1, 1h}, limit::Rate{3, 1s}, limit::Rate{7, 10s},
                        limit::Rate{1'000'003, 1s}, limit::Rate{100'000'000, 1s});
  const auto burst = *rc::gen::inRange<std::uint64_t>(1, 50);
  const auto asks = random_asks(rate, burst);
  const auto told = table().answers(bucket(rate, burst), Table::new_key(), asks);
  const Wide per = rate.per.count() / 1000, slack = per / 500'000 + 1;
  Wide level = 0;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const Wide floor =
        Wide{asks[i].now.time_since_epoch().count() / 1000} * static_cast<Wide>(rate.count);
    const Wide top = floor + static_cast<Wide>(burst) * per;
    level = std::max(level, floor);
    const LimitQuestion& asked = asks[i].question;
    if (told[i].granted > 0) {
      RC_ASSERT(told[i].granted >= asked.n && told[i].granted <= asked.want);
      level += static_cast<Wide>(told[i].granted) * per;
      RC_ASSERT(level <= top + slack);
      if (told[i].granted < asked.want) RC_ASSERT(level + per > top - slack);
    } else {
      RC_ASSERT(level + static_cast<Wide>(asked.n) * per > top - slack);
      const Wide retry_us = told[i].retry_after.count() / 1000;
      const Wide excess = level + static_cast<Wide>(asked.n) * per - top;
      RC_ASSERT(retry_us * static_cast<Wide>(rate.count) >= excess - slack);
      RC_ASSERT((retry_us - 1) * static_cast<Wide>(rate.count) <= excess + slack);
    }
  }
}

RC_GTEST_PROP(LimitFunctionsProperty, TheWindowLiesBetweenTheExactOneAndOneThatIsASlotLonger, ()) {
  if (!table().running()) return;
  const limit::Rate rate{*rc::gen::inRange<std::uint64_t>(1, 30), Millis(*rc::gen::inRange(1, 50))};
  const auto slots = *rc::gen::inRange<std::uint32_t>(1, 65);
  const auto asks = random_asks(rate, rate.count);
  const auto told = table().answers(window(rate, slots), Table::new_key(), asks);
  const Nanos looked_back = (slots + 1) * (rate.per / slots + 1us);
  const auto passed_since = [&](std::size_t end, TimePoint begin) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < end; ++i) sum += asks[i].now > begin ? told[i].granted : 0;
    return sum;
  };
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const TimePoint now = asks[i].now;
    if (told[i].granted > 0)
      RC_ASSERT(passed_since(i + 1, now - rate.per) <= rate.count);
    else
      RC_ASSERT(passed_since(i, now - looked_back) + asks[i].question.n > rate.count);
  }
}

// The server decides like a limiter in the process, question by question.
RC_GTEST_PROP(LimitFunctionsProperty, TheWindowIsTheOneOfLimit, ()) {
  if (!table().running()) return;
  const auto slots = *rc::gen::element<std::uint32_t>(1, 2, 10, 50);
  const limit::Rate rate{*rc::gen::inRange<std::uint64_t>(1, 30), Millis(*rc::gen::inRange(1, 50))};
  auto asks = random_asks(rate, rate.count);
  for (Ask& each : asks) each.question.want = each.question.n;
  const auto told = table().answers(window(rate, slots), Table::new_key(), asks);
  const auto local = limit::make_limiter(window(rate, slots)).value();
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const auto to_us = [](TimePoint time) {
      return TimePoint(std::chrono::floor<std::chrono::microseconds>(time.time_since_epoch()));
    };
    const limit::Decision decision = local->try_acquire(asks[i].question.n, to_us(asks[i].now));
    RC_ASSERT(decision.allowed == (told[i].granted > 0));
    RC_ASSERT(decision.remaining == told[i].remaining);
    RC_ASSERT(decision.retry_after == told[i].retry_after);
  }
}

TEST(LimitAnswer, AnotherFormIsAnError) {
  resp::Value reply;
  EXPECT_EQ(limit_answer(reply).error().code, ErrorCode::kProtocol);
  reply.type = resp::Value::Type::kArray;
  reply.items.resize(3);
  EXPECT_FALSE(limit_answer(reply).ok());
  for (resp::Value& each : reply.items) each.type = resp::Value::Type::kInteger;
  EXPECT_TRUE(limit_answer(reply).ok());
  reply.items[1].integer = -1;
  EXPECT_FALSE(limit_answer(reply).ok());
}

TEST(CheckDistributed, TwoAlgorithmsAndTheirBounds) {
  EXPECT_TRUE(check_distributed(bucket({1, 1s}, 1)).ok());
  EXPECT_TRUE(check_distributed(window({1, 1s}, 1)).ok());
  EXPECT_FALSE(check_distributed(window({1, 1s}, 65)).ok());
  EXPECT_FALSE(check_distributed(bucket({0, 1s}, 1)).ok());
  limit::LimiterOptions leaky = bucket({1, 1s}, 1);
  leaky.algorithm = limit::Algorithm::kLeakyBucket;
  EXPECT_THAT(check_distributed(leaky).error().message, HasSubstr("leaky-bucket"));
}

}  // namespace
}  // namespace heatsink::distributed
