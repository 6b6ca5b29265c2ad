// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/refreshes.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "heatsink/client/copies_for_test.h"
#include "heatsink/client/runtime_for_test.h"

namespace heatsink::client {
namespace {

const KeyHash kRefreshed = hash_for_test("a");

Load load_of_one() {
  return [] { return value_of(1); };
}

struct Refreshed {
  static ClientOptions options() {
    ClientOptions options;
    options.refresh_interval = std::chrono::seconds(10);
    options.refresh_jitter = 0;
    options.max_failures = 2;
    return options;
  }
  const ClientOptions given = options();
  PlayedRuntime runtime;
  Chance chance{1};
  Refreshes refreshes{given, runtime, chance};
};

TEST(Refreshes, NextWaitsUntilAKeyIsDue) {
  Refreshed it;
  it.refreshes.loaded(kRefreshed, load_of_one(), kStart);
  const auto job = it.refreshes.next();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->hash, kRefreshed);
  EXPECT_EQ(it.runtime.time, kStart + std::chrono::seconds(10));
  it.refreshes.succeeded(kRefreshed);
  ASSERT_TRUE(it.refreshes.next());
  EXPECT_EQ(it.runtime.time, kStart + std::chrono::seconds(20));
  it.refreshes.skipped(kRefreshed);
  ASSERT_TRUE(it.refreshes.next());
  EXPECT_EQ(it.runtime.time, kStart + std::chrono::seconds(30));
}

TEST(Refreshes, AHurriedKeyIsDueAtOnce) {
  Refreshed it;
  it.refreshes.hurry(kRefreshed);  // no loader is known for it: nothing happens
  it.refreshes.loaded(kRefreshed, load_of_one(), kStart);
  it.refreshes.hurry(kRefreshed, kStart - Nanos(5));
  const auto job = it.refreshes.next();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->due, kStart - Nanos(5)) << "a load since then will do";
  EXPECT_EQ(it.runtime.time, kStart);
}

TEST(Refreshes, AKeyThatFailsTooOftenIsForgotten) {
  Refreshed it;
  it.refreshes.loaded(kRefreshed, load_of_one(), kStart);
  ASSERT_TRUE(it.refreshes.next());
  EXPECT_FALSE(it.refreshes.failed(kRefreshed));
  ASSERT_TRUE(it.refreshes.next());
  EXPECT_TRUE(it.refreshes.failed(kRefreshed));
  it.refreshes.close();
  EXPECT_FALSE(it.refreshes.next());
}

TEST(Refreshes, TheIntervalIsShorterThanTheLifeOfACopy) {
  ClientOptions options = Refreshed::options();
  options.expire_after_write = std::chrono::seconds(4);
  PlayedRuntime runtime;
  Chance chance(1);
  EXPECT_EQ(Refreshes(options, runtime, chance).interval(), std::chrono::seconds(3));
}

TEST(Refreshes, CloseEndsAWaitThatHasNoOtherEnd) {
  const ClientOptions options;
  Chance chance(1);
  Refreshes refreshes(options, system_runtime(), chance);
  std::thread waits([&] { EXPECT_FALSE(refreshes.next()); });
  refreshes.close();
  waits.join();
}

}  // namespace
}  // namespace heatsink::client
