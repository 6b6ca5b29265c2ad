// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/node_wait.h"

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
