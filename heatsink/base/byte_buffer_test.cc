// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/byte_buffer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace heatsink {
namespace {

TEST(ByteBuffer, OwnsNoMemoryUntilWritten) {
  ByteBuffer buffer;
  buffer.append("");
  EXPECT_EQ(buffer.capacity(), 0u);
  EXPECT_TRUE(buffer.empty());
}

TEST(ByteBuffer, BehavesLikeAStringUnderRandomUse) {
  std::mt19937 random(7);
  ByteBuffer buffer;
  std::string model;
  for (int round = 0; round < 20000; ++round) {
    if (random() % 2 == 0) {
      const std::string bytes(random() % 300, static_cast<char>('a' + random() % 26));
      buffer.append(bytes);
      model += bytes;
    } else {
      const std::size_t n = model.empty() ? 0 : random() % (model.size() + 1);
      buffer.consume(n);
      model.erase(0, n);
    }
    ASSERT_EQ(buffer.view(), model);
  }
}

TEST(ByteBuffer, MovedFromIsEmpty) {
  ByteBuffer a;
  a.append("hello");
  ByteBuffer b(std::move(a));
  EXPECT_EQ(b.view(), "hello");
  EXPECT_TRUE(a.empty());  // NOLINT: the state after a move is part of the contract
}

}  // namespace
}  // namespace heatsink
