// SPDX-License-Identifier: Apache-2.0
// Limiters as several processes have them, with a real server and whatever happens to it.
#include "heatsink/distributed/rate_limiter.h"

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

namespace heatsink::distributed {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class RateLimiterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_.running()) GTEST_SKIP() << "redis-server is not installed";
  }
  // As another process has it: with a connection of its own.
  std::unique_ptr<RateLimiter> make(const RateLimiterOptions& options) {
    ServerOptions server;
    server.url = "unix://" + redis_.socket_path();
    server.backoff_max = 50ms;
    server.response_timeout = kPatience;
    Result<std::unique_ptr<RateLimiter>> made =
        RateLimiter::make(Server::open(server).value(), options);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return std::move(made).value();
  }
  // So slow that nothing comes back within a test.
  static RateLimiterOptions only(std::uint64_t burst) {
    RateLimiterOptions options;
    options.limit.rate = {1, 1h};
    options.limit.burst = burst;
    options.patience = kPatience;
    return options;
  }

  resp::testing::RedisProcess redis_;
};

TEST_F(RateLimiterTest, TwoShareOneLimit) {
  const auto one = make(only(3)), other = make(only(3));
  EXPECT_TRUE(one->try_acquire("k").allowed);
  EXPECT_TRUE(other->try_acquire("k").allowed);
  const Verdict third = one->try_acquire("k");
  EXPECT_TRUE(third.allowed);
  EXPECT_EQ(third.basis, Basis::kServer);
  EXPECT_EQ(third.remaining, 0U);
  const Verdict fourth = other->try_acquire("k");
  EXPECT_FALSE(fourth.allowed);
  EXPECT_GT(fourth.retry_after, 59min);
  EXPECT_TRUE(other->try_acquire("another").allowed);
}

TEST_F(RateLimiterTest, AWindowToo) {
  RateLimiterOptions options = only(0);
  options.limit = {.algorithm = limit::Algorithm::kSlidingWindow, .rate = {3, 1h}};
  const auto one = make(options), other = make(options);
  EXPECT_TRUE(one->try_acquire("k", 2).allowed);
  EXPECT_FALSE(other->try_acquire("k", 2).allowed);
  EXPECT_TRUE(other->try_acquire("k", 1).allowed);
}

TEST_F(RateLimiterTest, ARefusalIsRememberedAndTheServerNotAskedAgain) {
  const auto limiter = make(only(1));
  EXPECT_TRUE(limiter->try_acquire("k").allowed);
  EXPECT_EQ(limiter->try_acquire("k").basis, Basis::kServer);
  for (int i = 0; i < 100; ++i) {
    const Verdict again = limiter->try_acquire("k");
    EXPECT_FALSE(again.allowed);
    EXPECT_EQ(again.basis, Basis::kDenial);
    EXPECT_GT(again.retry_after, 50min);
  }
  EXPECT_EQ(limiter->counts().asked, 2U);
  EXPECT_EQ(limiter->counts().by_denial, 100U);
}

TEST_F(RateLimiterTest, MoreThanThereCanBeIsNeverAskedFor) {
  const auto limiter = make(only(3));
  EXPECT_EQ(limiter->try_acquire("k", 4).retry_after, limit::kNever);
  EXPECT_EQ(limiter->counts().asked, 0U);
}

TEST_F(RateLimiterTest, AskingForNothingTellsWhatRemains) {
  const auto limiter = make(only(3));
  EXPECT_TRUE(limiter->try_acquire("k").allowed);
  EXPECT_EQ(limiter->try_acquire("k", 0).remaining, 2U);
  EXPECT_EQ(limiter->try_acquire("k", 0).remaining, 2U);
}

TEST_F(RateLimiterTest, LeasedTokensAreSpentHereAndNeverMoreThanThereAre) {
  RateLimiterOptions options = only(1000);
  options.lease_share = 0.05;
  options.lease_lasts = 1min;
  const auto one = make(options), other = make(options);
  int allowed = 0;
  for (int i = 0; i < 3000; ++i) {
    allowed += one->try_acquire("k").allowed ? 1 : 0;
    allowed += other->try_acquire("k").allowed ? 1 : 0;
  }
  EXPECT_EQ(allowed, 1000);  // in 1 h one comes back, and none lapses in a minute
  EXPECT_GT(one->counts().by_lease, 300U);
  EXPECT_LT(one->counts().asked + other->counts().asked, 600U);
}

TEST_F(RateLimiterTest, ManyThreadsAtOneLeaseGetWhatThereIs) {
  RateLimiterOptions options = only(5000);
  options.lease_share = 0.1;
  options.lease_lasts = 1min;
  const auto limiter = make(options);
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, handle = limiter->at("k")] {
      while (handle.try_acquire().allowed) ++allowed;
    });
  for (std::thread& each : threads) each.join();
  // Each stopped at its first refusal, when a batch may have been under way: the rest is still
  // held.
  int rest = 0;
  while (limiter->try_acquire("k").basis == Basis::kLease) ++rest;
  EXPECT_LE(allowed + rest, 5000);
  EXPECT_GE(allowed + rest, 4400);
}

TEST_F(RateLimiterTest, WithoutABlockingCall) {
  const auto limiter = make(only(1));
  for (const bool expected : {true, false}) {
    std::promise<Verdict> told;
    limiter->at("k").try_acquire(1, BootClock::now() + kPatience,
                                 [&](const Verdict& verdict) { told.set_value(verdict); });
    EXPECT_EQ(told.get_future().get().allowed, expected);
  }
}

TEST_F(RateLimiterTest, WaitsForItsTurnButNotPastTheDeadline) {
  RateLimiterOptions options = only(1);
  options.limit.rate = {100, 1s};
  const auto limiter = make(options);
  const RateLimiter::Handle handle = limiter->at("k");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(handle.acquire(1, BootClock::now() + kPatience).allowed);
  const auto slow = make(only(1));
  EXPECT_TRUE(slow->at("j").acquire(1, BootClock::now() + kPatience).allowed);
  EXPECT_FALSE(slow->at("j").acquire(1, BootClock::now() + kPatience).allowed);
}

TEST_F(RateLimiterTest, WithoutAServerItDoesWhatItWasTold) {
  RateLimiterOptions open = only(1);
  open.on_failure = OnFailure::kAllow;
  RateLimiterOptions closed = open;
  closed.on_failure = OnFailure::kRefuse;
  redis_.stop();
  const auto lenient = make(open), strict = make(closed);
  const Verdict passed = lenient->try_acquire("k");
  EXPECT_TRUE(passed.allowed);
  EXPECT_EQ(passed.basis, Basis::kFailure);
  const Verdict stopped = strict->try_acquire("k");
  EXPECT_FALSE(stopped.allowed);
  EXPECT_EQ(stopped.basis, Basis::kFailure);
  EXPECT_EQ(strict->counts().failures, 1U);
  EXPECT_THAT(strict->problem(), HasSubstr("cannot be reached"));
}

TEST_F(RateLimiterTest, GoesOnWhenTheServerIsBack) {
  RateLimiterOptions options = only(1);
  options.on_failure = OnFailure::kRefuse;
  const auto limiter = make(options);
  EXPECT_TRUE(limiter->try_acquire("a").allowed);
  redis_.restart();
  ASSERT_TRUE(redis_.running());
  const TimePoint end = BootClock::now() + kPatience;
  Verdict verdict = limiter->try_acquire("b");
  while (verdict.basis == Basis::kFailure && BootClock::now() < end)
    verdict = limiter->try_acquire("b");
  EXPECT_TRUE(verdict.allowed);
  EXPECT_EQ(verdict.basis, Basis::kServer);
  EXPECT_EQ(limiter->problem(), "");
}

TEST_F(RateLimiterTest, AFrozenServerCostsPatienceOnceAndThenNothingForAsLong) {
  RateLimiterOptions options = only(1000);
  options.patience = 2s;
  options.on_failure = OnFailure::kRefuse;
  const auto limiter = make(options);
  ASSERT_TRUE(limiter->try_acquire("k").allowed);
  redis_.freeze();
  EXPECT_EQ(limiter->try_acquire("k").basis, Basis::kFailure);
  const TimePoint began = BootClock::now();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limiter->try_acquire("k").basis, Basis::kFailure);
  EXPECT_LT(BootClock::now(), began + 4 * options.patience);  // each would have waited for one
  redis_.thaw();
}

TEST_F(RateLimiterTest, LeasedTokensPassWhileTheServerIsGone) {
  RateLimiterOptions options = only(1000);
  options.lease_share = 0.5;
  options.lease_lasts = 1min;
  options.on_failure = OnFailure::kRefuse;
  const auto limiter = make(options);
  while (limiter->counts().leased_tokens < 100) ASSERT_TRUE(limiter->try_acquire("k").allowed);
  redis_.stop();
  int passed = 0;
  while (limiter->try_acquire("k").basis == Basis::kLease) ++passed;
  EXPECT_GT(passed, 10);
  EXPECT_FALSE(limiter->try_acquire("k").allowed);
}

TEST_F(RateLimiterTest, AKeyThatIsTooLongIsAFailure) {
  const auto limiter = make(only(1));
  EXPECT_EQ(limiter->try_acquire(std::string(kLimitKeyBytesMax + 1, 'x')).basis, Basis::kFailure);
  EXPECT_EQ(limiter->try_acquire(std::string(kLimitKeyBytesMax, 'x')).basis, Basis::kServer);
}

TEST_F(RateLimiterTest, HandlesOutliveTheLimiter) {
  auto limiter = make(only(2));
  const RateLimiter::Handle handle = limiter->at("k");
  limiter.reset();
  EXPECT_TRUE(handle.try_acquire().allowed);
}

TEST(RateLimiterOptions, TellsWhatCannotBe) {
  const auto refused = [](auto change) {
    RateLimiterOptions options;
    change(options);
    Result<std::unique_ptr<Server>> server = Server::open({.url = "redis://127.0.0.1:1"});
    const auto made = RateLimiter::make(std::move(server).value(), options);
    return made.ok() ? "" : made.error().message;
  };
  EXPECT_EQ(refused([](RateLimiterOptions&) {}), "");
  EXPECT_THAT(refused([](auto& o) { o.name = ""; }), HasSubstr("name"));
  EXPECT_THAT(refused([](auto& o) { o.name = "a{b}"; }), HasSubstr("braces"));
  EXPECT_THAT(refused([](auto& o) { o.lease_share = 1.1; }), HasSubstr("0 to 1"));
  EXPECT_THAT(refused([](auto& o) { o.lease_lasts = 1ms; }), HasSubstr("10ms to 1m"));
  EXPECT_THAT(refused([](auto& o) { o.patience = 0ns; }), HasSubstr("patience"));
  EXPECT_THAT(refused([](auto& o) { o.keys_max = 0; }), HasSubstr("keys_max must be at least 1"));
  EXPECT_THAT(refused([](auto& o) { o.limit.rate.count = 0; }), HasSubstr("rate"));
}

}  // namespace
}  // namespace heatsink::distributed
