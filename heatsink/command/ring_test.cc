// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/ring.h"

#include <gtest/gtest.h>

#include <memory>

namespace heatsink::proxy {
namespace {

TEST(Ring, IsAQueueWhileItWrapsAndGrows) {
  Ring<int> ring;
  int in = 0;
  int out = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 7; ++i) ring.push_back(in++);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(ring.pop_front(), out++);
  }
  ASSERT_EQ(ring.size(), 100u);
  for (std::size_t i = 0; i < ring.size(); ++i) ASSERT_EQ(ring[i], out + static_cast<int>(i));
  while (!ring.empty()) ASSERT_EQ(ring.pop_front(), out++);
  EXPECT_EQ(out, in);
}

TEST(Ring, GivesTheSlotOfADroppedElementToANewOne) {
  Ring<int> ring;
  for (int i = 0; i < 8; ++i) ring.push_back(int(i));
  ring.drop_front();
  ring.drop_front();
  EXPECT_EQ(ring.size(), 6u);
  ring.push_back(8);
  ring.push_back(9);
  EXPECT_EQ(ring.capacity(), 8u);
  for (int i = 2; i < 10; ++i) EXPECT_EQ(ring.pop_front(), i);
}

TEST(Ring, HoldsWhatCanOnlyBeMoved) {
  Ring<std::unique_ptr<int>> ring;
  for (int i = 0; i < 20; ++i) *ring.push_back(std::make_unique<int>(i)) += 100;
  EXPECT_EQ(*ring.front(), 100);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(*ring.pop_front(), 100 + i);
}

TEST(Ring, KeepsNothingAliveThatWasTaken) {
  const auto shared = std::make_shared<int>(0);
  Ring<std::shared_ptr<int>> ring;
  ring.push_back(std::shared_ptr(shared));
  ring.pop_front();
  EXPECT_EQ(shared.use_count(), 1);
}

}  // namespace
}  // namespace heatsink::proxy
