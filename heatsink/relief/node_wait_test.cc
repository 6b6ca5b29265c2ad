// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/node_wait.h"

#include <gtest/gtest.h>

#include "heatsink/redis/upstream_address.h"

namespace heatsink::proxy {
namespace {

using Nodes = std::vector<redis::UpstreamAddress*>;

struct NodeWaitTest : testing::Test {
  redis::UpstreamAddress a{net::parse_upstream_url("redis://127.0.0.1:1").value()};
  redis::UpstreamAddress b{net::parse_upstream_url("redis://127.0.0.1:2").value()};
};

TEST_F(NodeWaitTest, EachNodeIsNotedOnce) {
  WrittenNodes written;
  for (redis::UpstreamAddress* each : {&a, &a, &b, &a, &b, &b}) written.note(*each);
  EXPECT_EQ(written.all(), (Nodes{&a, &b}));
}

TEST_F(NodeWaitTest, WhichNodesHaveWrites) {
  WrittenNodes written;
  written.note(a);
  EXPECT_TRUE(written.has(a));
  EXPECT_FALSE(written.has(b));
}

TEST(WaitsForOwnWrites, SinceRedis72) {
  const auto of = [](const std::string& version) {
    return waits_for_own_writes("*4\r\n+server\r\n+redis\r\n+version\r\n$" +
                                std::to_string(version.size()) + "\r\n" + version + "\r\n");
  };
  for (const char* const old : {"6.0.16", "6.2.0", "7.0.15", "7.1.240"})
    EXPECT_FALSE(of(old)) << old;
  for (const char* const now : {"7.2.0", "7.4.1", "8.0.2", "9.1.2", "10.0", "255.255.255"})
    EXPECT_TRUE(of(now)) << now;
  EXPECT_FALSE(waits_for_own_writes(""));
  for (const char* const unknown : {"+OK\r\n", "*0\r\n", "garbage"})
    EXPECT_TRUE(waits_for_own_writes(unknown)) << unknown;
  for (const char* const unknown : {"", "x", "7", "7.", "7.x"}) EXPECT_TRUE(of(unknown)) << unknown;
}

TEST_F(NodeWaitTest, TheSmallestNumberIsTheReply) {
  NodeWait wait({&a, &b});
  EXPECT_EQ(wait.node(), &a);
  EXPECT_FALSE(wait.answered(":2\r\n"));
  EXPECT_EQ(wait.node(), &b);
  EXPECT_TRUE(wait.answered(":1\r\n"));
  EXPECT_EQ(wait.reply(), ":1\r\n");
}

TEST_F(NodeWaitTest, EachNumberOfWaitaofIsTheSmallest) {
  NodeWait wait({&a, &b});
  EXPECT_FALSE(wait.answered("*2\r\n:1\r\n:0\r\n"));
  EXPECT_TRUE(wait.answered("*2\r\n:0\r\n:3\r\n"));
  EXPECT_EQ(wait.reply(), "*2\r\n:0\r\n:0\r\n");
}

TEST_F(NodeWaitTest, AnErrorEndsIt) {
  NodeWait wait({&a, &b});
  EXPECT_TRUE(wait.answered("-ERR value is not an integer or out of range\r\n"));
  EXPECT_EQ(wait.reply(), "-ERR value is not an integer or out of range\r\n");
}

}  // namespace
}  // namespace heatsink::proxy
