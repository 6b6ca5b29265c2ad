// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/shared_limits.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::fleet {
namespace {

limit::LimiterOptions per_hour(std::uint64_t count) {
  limit::LimiterOptions options;
  options.rate = {.count = count, .per = std::chrono::hours(1)};
  options.burst = count;
  return options;
}

class FleetLimits : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis.running()) GTEST_SKIP() << "there is no redis-server";
  }

  std::unique_ptr<ServerLimits> limits() const {
    net::RedisUrl url;
    url.unix_path = redis.socket_path();
    return std::make_unique<ServerLimits>("shop", url, net::TlsContext(),
                                          distributed::ServerOptions{});
  }

  // Asks again while the server has not answered; at most 20 s.
  static limit::Decision decide(limit::SharedLimit& limit, const std::string& key) {
    const std::shared_ptr<limit::Limiter> limiter = limit.of(key);
    limit::Decision decision;
    for (const TimePoint end = BootClock::now() + std::chrono::seconds(20);
         BootClock::now() < end;) {
      decision = limiter->try_acquire(1, BootClock::now());
      if (!decision.undecided) break;
      std::this_thread::yield();
    }
    return decision;
  }

  resp::testing::RedisProcess redis;
};

TEST_F(FleetLimits, SeveralInstancesNeverPassMoreThanTheLimitTogether) {
  const auto a = limits(), b = limits();
  const auto in_a = a->open("lim:*", per_hour(10), 100).value();
  const auto in_b = b->open("lim:*", per_hour(10), 100).value();
  int passed = 0;
  for (int i = 0; i < 20; ++i) {
    passed += decide(*in_a, "lim:1").allowed ? 1 : 0;
    passed += decide(*in_b, "lim:1").allowed ? 1 : 0;
  }
  EXPECT_LE(passed, 10);
  EXPECT_GE(passed, 8);  // a token or two may lapse unspent
}

TEST_F(FleetLimits, TheFirstQuestionIsUndecidedAndDoesNotWait) {
  const auto all = limits();
  const auto limit = all->open("lim:*", per_hour(10), 100).value();
  const limit::Decision first = limit->of("lim:1")->try_acquire(1, BootClock::now());
  EXPECT_TRUE(first.undecided);
  EXPECT_FALSE(first.allowed);
  EXPECT_GT(first.retry_after, Nanos(0));
}

TEST_F(FleetLimits, GivenBackTokensPassTheNextOne) {
  const auto all = limits();
  const auto limit = all->open("lim:*", per_hour(1), 100).value();
  const std::shared_ptr<limit::Limiter> request = limit->of("lim:1");
  limit::Decision first;
  do first = request->try_acquire(1, BootClock::now());
  while (first.undecided);
  ASSERT_TRUE(first.allowed);
  request->give_back(1, BootClock::now());
  EXPECT_TRUE(decide(*limit, "lim:1").allowed);
  EXPECT_FALSE(decide(*limit, "lim:1").allowed);
}

TEST_F(FleetLimits, WithoutTheServerEachKeepsItsPart) {
  const auto all = limits();
  all->set_instances(5);
  const auto limit = all->open("lim:*", per_hour(10), 100).value();
  ASSERT_TRUE(decide(*limit, "first").allowed);
  redis.stop();
  int passed = 0;
  for (int i = 0; i < 20; ++i) passed += decide(*limit, "lim:1").allowed ? 1 : 0;
  EXPECT_EQ(passed, 2);
  EXPECT_NE(limit->problem(), "");
}

TEST_F(FleetLimits, ALimitSmallerThanTheFleetStillPassesOneOfEach) {
  const auto all = limits();
  all->set_instances(50);
  const auto limit = all->open("lim:*", per_hour(3), 100).value();
  ASSERT_TRUE(decide(*limit, "first").allowed);
  redis.stop();
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += decide(*limit, "lim:1").allowed ? 1 : 0;
  EXPECT_EQ(passed, 1);
}

}  // namespace
}  // namespace heatsink::fleet
