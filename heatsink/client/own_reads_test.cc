// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/own_reads.h"

#include <gtest/gtest.h>

#include <thread>

namespace heatsink::client {
namespace {

constexpr KeyHash kRead{5}, kUnread{6}, kColliding{5 + 1024};
constexpr TimePoint kBeforeIt{Nanos(10)}, kThen{Nanos(20)}, kAfterIt{Nanos(30)};

TEST(OwnReads, AreOfOneKeyAndNotTooOld) {
  OwnReads reads;
  EXPECT_FALSE(reads.has(kRead, kBeforeIt));
  reads.note(kRead, kThen);
  EXPECT_TRUE(reads.has(kRead, kBeforeIt));
  EXPECT_TRUE(reads.has(kRead, kThen));
  EXPECT_FALSE(reads.has(kRead, kAfterIt));
  EXPECT_FALSE(reads.has(kUnread, kBeforeIt));
}

TEST(OwnReads, AreOfOneThread) {
  OwnReads reads;
  std::thread other([&] { reads.note(kRead, kThen); });
  other.join();
  EXPECT_FALSE(reads.has(kRead, kBeforeIt));
}

TEST(OwnReads, KeysThatCollideForgetEachOther) {
  OwnReads reads;
  reads.note(kRead, kThen);
  reads.note(kColliding, kThen);
  EXPECT_FALSE(reads.has(kRead, kBeforeIt));
  EXPECT_TRUE(reads.has(kColliding, kBeforeIt));
}

}  // namespace
}  // namespace heatsink::client
