// SPDX-License-Identifier: Apache-2.0
// Functions on a real server, whatever happens to it.
#include "heatsink/distributed/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/distributed/times_for_test.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::distributed {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const ServerFunction& add() {
  static const FunctionLibrary library(
      "heatsink_test", "local command = 'INCRBY'",
      {{"add", "return redis.call(command, KEYS[1], tonumber(ARGV[1]))"}});
  return library.function("add");
}

FunctionCall add_to(std::string key, int n) {
  return {&add(), {std::move(key)}, {std::to_string(n)}};
}

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_.running()) GTEST_SKIP() << "redis-server is not installed";
    open(options());
  }
  ServerOptions options(const std::string& who = "") const {
    ServerOptions options;
    options.url = "unix://" + who + redis_.socket_path();
    options.response_timeout = kPatience;
    options.backoff_max = Millis(50);
    return options;
  }
  void open(const ServerOptions& options) {
    Result<std::unique_ptr<Server>> opened = Server::open(options);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    server_ = std::move(opened).value();
  }
  Result<resp::Value> call(FunctionCall what) {
    return server_->call_and_wait(std::move(what), BootClock::now() + kPatience);
  }
  std::int64_t sum_of(const std::string& key) {
    const Result<resp::Value> said = call(add_to(key, 0));
    EXPECT_TRUE(said.ok()) << said.error().message;
    return said.ok() ? said->integer : -1;
  }
  std::string ask(std::initializer_list<std::string_view> args) const { return redis_.ask(args); }

  resp::testing::RedisProcess redis_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, LoadsOnceAndCalls) {
  EXPECT_EQ(call(add_to("a", 5))->integer, 5);
  EXPECT_EQ(call(add_to("a", 6))->integer, 11);
  EXPECT_THAT(ask({"FUNCTION", "LIST"}), HasSubstr(add().library->name()));
  EXPECT_EQ(server_->counts().calls, 2U);
}

TEST_F(ServerTest, ManyThreadsAndOneConnection) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      for (int n = 0; n < 200; ++n) EXPECT_TRUE(call(add_to("a", 1)).ok());
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(sum_of("a"), 800);
}

TEST_F(ServerTest, PipelinedCallsAreAnsweredInTheirOrder) {
  std::vector<std::int64_t> sums;
  ASSERT_EQ(sum_of("a"), 0);  // the function is there now
  for (int i = 0; i < 1000; ++i)
    server_->call(add_to("a", 1), Server::kNoDeadline, [&sums](const Result<resp::Value>& said) {
      sums.push_back(said.ok() ? said->integer : -1);
    });
  ASSERT_EQ(sum_of("a"), 1000);
  ASSERT_EQ(sums.size(), 1000U);
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], std::int64_t(i) + 1);
}

TEST_F(ServerTest, AFlushOfTheFunctionsIsNotNoticed) {
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(call(add_to("a", 1))->integer, i);
    ask({"FUNCTION", "FLUSH"});
  }
}

TEST_F(ServerTest, WhoMayNotUseFunctionsUsesScripts) {
  ask({"ACL", "SETUSER", "clerk", "on", ">secret", "~*", "+@all", "-fcall", "-function"});
  open(options("clerk:secret@"));
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(call(add_to("a", 1))->integer, i);
    ask({"SCRIPT", "FLUSH"});
  }
  EXPECT_THAT(ask({"FUNCTION", "LIST"}), StartsWith("*0"));
}

TEST_F(ServerTest, WhoMayCallButNotLoadUsesScriptsToo) {
  ask({"ACL", "SETUSER", "clerk", "on", ">secret", "~*", "+@all", "-function"});
  open(options("clerk:secret@"));
  EXPECT_EQ(call(add_to("a", 1))->integer, 1);
}

TEST_F(ServerTest, WhoMayNothingIsToldWhatHeNeeds) {
  ask({"ACL", "SETUSER", "clerk", "on", ">secret", "~*", "+@all", "-@scripting"});
  open(options("clerk:secret@"));
  const Result<resp::Value> said = call(add_to("a", 1));
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().code, ErrorCode::kPermission);
}

TEST_F(ServerTest, AnErrorOfTheFunctionIsAnError) {
  ask({"LPUSH", "a", "x"});
  const Result<resp::Value> said = call(add_to("a", 1));
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(said.error().message, HasSubstr("WRONGTYPE"));
}

TEST_F(ServerTest, ComesBackToAServerThatWasKilled) {
  EXPECT_EQ(call(add_to("a", 1))->integer, 1);
  redis_.stop();
  const Result<resp::Value> said = call(add_to("a", 1));
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().code, ErrorCode::kUnavailable);
  redis_.restart();
  ASSERT_TRUE(redis_.running());
  const TimePoint end = BootClock::now() + kPatience;
  Result<resp::Value> again = call(add_to("a", 1));
  while (!again.ok() && BootClock::now() < end) again = call(add_to("a", 1));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->integer, 1);
}

TEST_F(ServerTest, AFrozenServerIsWaitedForUntilTheDeadline) {
  EXPECT_EQ(call(add_to("a", 1))->integer, 1);
  redis_.freeze();
  const TimePoint began = BootClock::now();
  const Result<resp::Value> said = server_->call_and_wait(add_to("a", 1), began + Millis(30));
  EXPECT_GE(BootClock::now(), began + Millis(30));
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().code, ErrorCode::kTimedOut);
  std::promise<ErrorCode> told;
  server_->call(add_to("a", 1), BootClock::now() + Millis(30),
                [&told](const Result<resp::Value>& late) { told.set_value(late.error().code); });
  EXPECT_EQ(told.get_future().get(), ErrorCode::kTimedOut);
  redis_.thaw();
  EXPECT_GE(sum_of("a"), 1);
}

TEST_F(ServerTest, WhatIsTooLateIsNeverSent) {
  const Result<resp::Value> said = server_->call_and_wait(add_to("a", 1), BootClock::now());
  ASSERT_FALSE(said.ok());
  EXPECT_EQ(said.error().code, ErrorCode::kTimedOut);
  EXPECT_EQ(sum_of("a"), 0);
}

TEST_F(ServerTest, OneCallTooManyIsRefusedAtOnce) {
  ServerOptions few = options();
  few.calls_max = 1;
  open(few);
  redis_.freeze();
  std::promise<bool> first;
  server_->call(add_to("a", 1), Server::kNoDeadline,
                [&first](const Result<resp::Value>& said) { first.set_value(said.ok()); });
  const Result<resp::Value> second = call(add_to("a", 1));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("too many"));
  redis_.thaw();
  EXPECT_TRUE(first.get_future().get());
}

TEST_F(ServerTest, AfterCloseEverybodyIsTold) {
  redis_.freeze();
  std::atomic<int> told{0};
  for (int i = 0; i < 10; ++i)
    server_->call(add_to("a", 1), Server::kNoDeadline,
                  [&told](const Result<resp::Value>& said) { told += said.ok() ? 0 : 1; });
  server_->close();
  EXPECT_EQ(told, 10);
  EXPECT_FALSE(call(add_to("a", 1)).ok());
  redis_.thaw();
}

TEST_F(ServerTest, ACallWithoutKeysIsRefused) {
  EXPECT_EQ(call({&add(), {}, {"1"}}).error().code, ErrorCode::kInvalidArgument);
}

TEST(ServerOpen, TellsWhatItCannotUse) {
  ServerOptions options;
  options.url = "http://x";
  EXPECT_EQ(Server::open(options).error().code, ErrorCode::kInvalidArgument);
  options.url = "rediss://127.0.0.1:1";
  options.tls_ca = "/does/not/exist";
  EXPECT_FALSE(Server::open(options).ok());
  options = {};
  options.translate = "10.0.0.5";
  EXPECT_EQ(Server::open(options).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace heatsink::distributed
