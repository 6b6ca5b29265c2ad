// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/channels.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::proxy {
namespace {

TEST(Channels, TheMemoryOfEachNameIsCountedOnce) {
  Channels channels;
  EXPECT_EQ(channels.memory_bytes(), 0u);
  EXPECT_TRUE(channels.insert("news"));
  const std::size_t one = channels.memory_bytes();
  EXPECT_GT(one, sizeof(std::string));
  EXPECT_FALSE(channels.insert("news"));
  EXPECT_EQ(channels.memory_bytes(), one);
  channels.insert(std::string(1000, 'x'));
  EXPECT_GE(channels.memory_bytes(), one + 1000);
  channels.erase(std::string(1000, 'x'));
  channels.erase("unknown");
  EXPECT_EQ(channels.memory_bytes(), one);
  channels.clear();
  EXPECT_EQ(channels.memory_bytes(), 0u);
  EXPECT_TRUE(channels.empty());
}

}  // namespace
}  // namespace heatsink::proxy
