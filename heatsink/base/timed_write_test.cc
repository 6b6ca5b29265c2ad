// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/timed_write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace heatsink {
namespace {

TEST(TimedWrite, AFullPipeIsNotWaitedFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const auto room = static_cast<std::size_t>(fcntl(ends[1], F_GETPIPE_SZ));
  EXPECT_TRUE(write_within(ends[1], std::string(room, 'x'), Millis(1)));
  EXPECT_FALSE(write_within(ends[1], "y", Millis(1)));
  std::string read_back(room, '\0');
  ASSERT_EQ(read(ends[0], read_back.data(), room), static_cast<ssize_t>(room));
  EXPECT_EQ(read_back, std::string(room, 'x'));
  EXPECT_TRUE(write_within(ends[1], "y", Millis(1)));
  close(ends[0]);
  close(ends[1]);
  EXPECT_FALSE(write_within(ends[1], "y", Millis(1)));
}

}  // namespace
}  // namespace heatsink
