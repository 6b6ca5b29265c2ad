// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/load_group.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr KeyHash kKey{7};
constexpr TimePoint kNever{};
constexpr Nanos kLong = std::chrono::minutes(1);

TEST(LoadGroup, TheFirstLeadsAndOthersWaitForItsValue) {
  LoadGroup group(10);
  const LoadGroup::JoinResult leader = group.join(kKey, kStart, kNever);
  ASSERT_EQ(leader.role, LoadGroup::Role::kLeads);
  const LoadGroup::JoinResult waiter = group.join(kKey, kStart, kNever);
  ASSERT_EQ(waiter.role, LoadGroup::Role::kWaits);
  EXPECT_EQ(group.join(KeyHash{8}, kStart, kNever).role, LoadGroup::Role::kLeads) << "another key";
  const SharedCachedValue cached = std::make_shared<CachedValueOf<int>>(1);
  std::thread completes([&] { group.complete(kKey, leader.shared, cached, nullptr); });
  EXPECT_TRUE(group.wait(*waiter.shared, kLong));
  completes.join();
  EXPECT_EQ(waiter.shared->cached, cached);
  EXPECT_EQ(group.join(kKey, kStart, kNever).role, LoadGroup::Role::kLeads) << "it is over";
}

TEST(LoadGroup, AnErrorIsForAllWhoWait) {
  LoadGroup group(10);
  const LoadGroup::JoinResult leader = group.join(kKey, kStart, kNever);
  const LoadGroup::JoinResult waiter = group.join(kKey, kStart, kNever);
  group.complete(kKey, leader.shared, nullptr, std::make_exception_ptr(std::runtime_error("down")));
  ASSERT_TRUE(group.wait(*waiter.shared, kLong));
  EXPECT_THROW(std::rethrow_exception(waiter.shared->error), std::runtime_error);
}

TEST(LoadGroup, SoManyWaitAndNoMore) {
  LoadGroup group(1);
  const LoadGroup::JoinResult leader = group.join(kKey, kStart, kNever);
  const LoadGroup::JoinResult waiter = group.join(kKey, kStart, kNever);
  EXPECT_EQ(waiter.role, LoadGroup::Role::kWaits);
  EXPECT_EQ(group.join(kKey, kStart, kNever).role, LoadGroup::Role::kRefused);
  EXPECT_FALSE(group.wait(*waiter.shared, Nanos(0))) << "it gives up";
  EXPECT_EQ(group.join(kKey, kStart, kNever).role, LoadGroup::Role::kWaits)
      << "and its place is free";
  group.complete(kKey, leader.shared, nullptr, nullptr);
}

// A load that began before a write ended may return the value that the write replaced.
TEST(LoadGroup, NobodyJoinsOneThatAWriteHasOvertaken) {
  LoadGroup group(10);
  const LoadGroup::JoinResult old = group.join(kKey, kStart, kNever);
  EXPECT_EQ(group.join(kKey, kStart + Nanos(1), kStart - Nanos(1)).role, LoadGroup::Role::kWaits);
  const LoadGroup::JoinResult fresh = group.join(kKey, kStart + Nanos(2), kStart);
  ASSERT_EQ(fresh.role, LoadGroup::Role::kLeads);
  group.complete(kKey, old.shared, nullptr, nullptr);
  EXPECT_EQ(group.join(kKey, kStart + Nanos(3), kStart).role, LoadGroup::Role::kWaits)
      << "the old one's end is not the new one's";
  group.complete(kKey, fresh.shared, nullptr, nullptr);
}

TEST(LoadGroup, ALoadThatNobodyWaitsForIsOneToo) {
  LoadGroup group(10);
  const auto led = group.lead(kKey, kStart, kNever);
  ASSERT_NE(led, nullptr);
  EXPECT_EQ(group.lead(kKey, kStart + Nanos(1), kNever), nullptr) << "it is under way";
  const LoadGroup::JoinResult waiter = group.join(kKey, kStart + Nanos(1), kNever);
  ASSERT_EQ(waiter.role, LoadGroup::Role::kWaits);
  EXPECT_EQ(waiter.shared, led);
  EXPECT_NE(group.lead(kKey, kStart + Nanos(2), kStart), nullptr) << "a write has overtaken it";
  group.complete(kKey, led, nullptr, nullptr);
}

}  // namespace
}  // namespace heatsink::client
