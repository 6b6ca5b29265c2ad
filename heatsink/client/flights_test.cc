// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/flights.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr KeyHash kKey{7};
constexpr TimePoint kNever{};
constexpr Nanos kLong = std::chrono::minutes(1);

TEST(Flights, TheFirstLeadsAndOthersWaitForItsBox) {
  Flights flights(10);
  const Flights::Seat leader = flights.board(kKey, kStart, kNever);
  ASSERT_EQ(leader.role, Flights::Role::kLeads);
  const Flights::Seat waiter = flights.board(kKey, kStart, kNever);
  ASSERT_EQ(waiter.role, Flights::Role::kWaits);
  EXPECT_EQ(flights.board(KeyHash{8}, kStart, kNever).role, Flights::Role::kLeads) << "another key";
  const SharedBox box = std::make_shared<BoxOf<int>>(1);
  std::thread lands([&] { flights.land(kKey, leader.flight, box, nullptr); });
  EXPECT_TRUE(flights.wait(*waiter.flight, kLong));
  lands.join();
  EXPECT_EQ(waiter.flight->box, box);
  EXPECT_EQ(flights.board(kKey, kStart, kNever).role, Flights::Role::kLeads) << "it is over";
}

TEST(Flights, AnErrorIsForAllWhoWait) {
  Flights flights(10);
  const Flights::Seat leader = flights.board(kKey, kStart, kNever);
  const Flights::Seat waiter = flights.board(kKey, kStart, kNever);
  flights.land(kKey, leader.flight, nullptr, std::make_exception_ptr(std::runtime_error("down")));
  ASSERT_TRUE(flights.wait(*waiter.flight, kLong));
  EXPECT_THROW(std::rethrow_exception(waiter.flight->error), std::runtime_error);
}

TEST(Flights, SoManyWaitAndNoMore) {
  Flights flights(1);
  const Flights::Seat leader = flights.board(kKey, kStart, kNever);
  const Flights::Seat waiter = flights.board(kKey, kStart, kNever);
  EXPECT_EQ(waiter.role, Flights::Role::kWaits);
  EXPECT_EQ(flights.board(kKey, kStart, kNever).role, Flights::Role::kRefused);
  EXPECT_FALSE(flights.wait(*waiter.flight, Nanos(0))) << "it gives up";
  EXPECT_EQ(flights.board(kKey, kStart, kNever).role, Flights::Role::kWaits)
      << "and its place is free";
  flights.land(kKey, leader.flight, nullptr, nullptr);
}

// A load that began before a write had ended may bring what the write replaced.
TEST(Flights, NobodyJoinsOneThatAWriteHasOvertaken) {
  Flights flights(10);
  const Flights::Seat old = flights.board(kKey, kStart, kNever);
  EXPECT_EQ(flights.board(kKey, kStart + Nanos(1), kStart - Nanos(1)).role, Flights::Role::kWaits);
  const Flights::Seat fresh = flights.board(kKey, kStart + Nanos(2), kStart);
  ASSERT_EQ(fresh.role, Flights::Role::kLeads);
  flights.land(kKey, old.flight, nullptr, nullptr);
  EXPECT_EQ(flights.board(kKey, kStart + Nanos(3), kStart).role, Flights::Role::kWaits)
      << "the old one's end is not the new one's";
  flights.land(kKey, fresh.flight, nullptr, nullptr);
}

TEST(Flights, ALoadThatNobodyWaitsForIsOneToo) {
  Flights flights(10);
  const auto led = flights.lead(kKey, kStart, kNever);
  ASSERT_NE(led, nullptr);
  EXPECT_EQ(flights.lead(kKey, kStart + Nanos(1), kNever), nullptr) << "it is under way";
  const Flights::Seat waiter = flights.board(kKey, kStart + Nanos(1), kNever);
  ASSERT_EQ(waiter.role, Flights::Role::kWaits);
  EXPECT_EQ(waiter.flight, led);
  EXPECT_NE(flights.lead(kKey, kStart + Nanos(2), kStart), nullptr) << "a write has overtaken it";
  flights.land(kKey, led, nullptr, nullptr);
}

}  // namespace
}  // namespace heatsink::client
