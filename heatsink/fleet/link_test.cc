// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "heatsink/fleet/fleet_for_test.h"
#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::fleet {
namespace {

class FleetLink : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis.running()) GTEST_SKIP() << "there is no redis-server";
  }

  std::unique_ptr<Link> link(const std::string& id) {
    LinkOptions options;
    options.url.unix_path = redis.socket_path();
    options.member.id = id;
    options.member.seed = kSeedForTest;
    options.server.backoff_max = Millis(50);
    auto made = std::make_unique<Link>(loop, options, [] {
      return std::vector<detect::Summary>{window_for_test({{"sale", 10}}, 1000)};
    });
    made->begin();
    return made;
  }

  template <class Predicate>
  bool until(Predicate holds) {
    for (const TimePoint end = loop.clock() + std::chrono::seconds(20); loop.clock() < end;) {
      loop.turn(Millis(20));
      if (holds()) return true;
    }
    return false;
  }

  resp::testing::RedisProcess redis;
  net::EventLoop loop;
};

TEST_F(FleetLink, TwoInstancesKnowEachOtherThroughAServer) {
  const auto a = link("a"), b = link("b");
  const auto both = [&] {
    const List list = a->member().list(loop.clock());
    return list && list->instances == 2 && b->member().list(loop.clock());
  };
  ASSERT_TRUE(until(both));
  EXPECT_EQ(find_for_test(a->member().list(loop.clock())->windows[0], "sale")->low, 20U);
}

TEST_F(FleetLink, AnInstanceThatEndsTakesItsReportAway) {
  const auto a = link("a");
  ASSERT_TRUE(until([&] { return a->member().merges(); }));  // so that the sum does not wait
  auto b = link("b");
  const auto known = [&] {
    const List list = a->member().list(loop.clock());
    return list ? list->instances : 0;
  };
  ASSERT_TRUE(until([&] { return known() == 2; }));
  const TimePoint ended_at = loop.clock();
  b.reset();
  ASSERT_TRUE(until([&] { return known() == 1; }));
  EXPECT_LT(loop.clock() - ended_at, Millis(1400)) << "its report would have ended by itself";
}

TEST_F(FleetLink, AServerThatRestartsIsFoundAgain) {
  const auto a = link("a");
  ASSERT_TRUE(until([&] { return a->member().list(loop.clock()) != nullptr; }));
  redis.stop();
  ASSERT_TRUE(until([&] { return a->member().list(loop.clock()) == nullptr; }));
  EXPECT_THAT(a->member().problem(), testing::HasSubstr("cannot be reached"));
  redis.restart();
  EXPECT_TRUE(until(
      [&] { return a->member().list(loop.clock()) != nullptr && a->member().problem().empty(); }));
}

TEST_F(FleetLink, OtherCredentialsAreUsedFromThenOn) {
  const auto a = link("a");
  ASSERT_TRUE(until([&] { return a->member().list(loop.clock()) != nullptr; }));
  a->set_credentials("nobody", "wrong");
  EXPECT_TRUE(until([&] { return !a->member().problem().empty(); }));
  a->set_credentials("", "");
  EXPECT_TRUE(until([&] { return a->member().problem().empty(); }));
}

}  // namespace
}  // namespace heatsink::fleet
