// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/own_traffic.h"

#include <gtest/gtest.h>

namespace heatsink::observe {
namespace {

TEST(OwnTraffic, OfOurOwnConnectionsIsAll) {
  OwnTraffic own;
  own.add("127.0.0.1:5");
  EXPECT_TRUE(own.is_own("127.0.0.1:5", "type", "k"));
  EXPECT_FALSE(own.is_own("127.0.0.1:55", "type", "k"));
}

TEST(OwnTraffic, TheLatestOfOurConnectionsAreKnown) {
  OwnTraffic own;
  for (std::size_t i = 0; i <= OwnTraffic::kOwnMax; ++i) own.add("a:" + std::to_string(i));
  EXPECT_FALSE(own.is_own("a:0", "get", "k"));
  EXPECT_TRUE(own.is_own("a:1", "get", "k"));
}

TEST(OwnTraffic, AHeartbeatIsKnownByItsName) {
  OwnTraffic own;
  EXPECT_TRUE(own.is_own("10.0.0.1:1", "exists", "heatsink:heartbeat"));
  EXPECT_TRUE(own.is_own("10.0.0.1:1", "exists", "heatsink:heartbeat{a}"));
  EXPECT_FALSE(own.is_own("10.0.0.1:1", "get", "heatsink:heartbeat")) << "somebody's own business";
  EXPECT_FALSE(own.is_own("10.0.0.1:1", "exists", "heatsink:limit:a"));
}

TEST(OwnTraffic, AHeartbeatOfAnotherNameIsKnownByWhatItsConnectionSays) {
  OwnTraffic own;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(own.is_own("10.0.0.1:1", "exists", "app:proof")) << i;
    EXPECT_FALSE(own.is_own("10.0.0.1:1", "hello", ""));
  }
  EXPECT_TRUE(own.is_own("10.0.0.1:1", "exists", "app:proof"));
  EXPECT_FALSE(own.is_own("10.0.0.1:1", "exists", "")) << "of several keys";
  EXPECT_FALSE(own.is_own("10.0.0.1:1", "get", "app:proof"));
}

TEST(OwnTraffic, AClientThatLogsInIsNone) {
  OwnTraffic own;
  for (int port = 0; port < 100; ++port) {
    const std::string address = "10.0.0.1:" + std::to_string(port);
    EXPECT_FALSE(own.is_own(address, "hello", ""));
    EXPECT_FALSE(own.is_own(address, "hello", ""));
    EXPECT_FALSE(own.is_own(address, "exists", "k"));
  }
}

TEST(OwnTraffic, AFloodOfConnectionsTakesNoMemory) {
  OwnTraffic own;
  for (std::size_t i = 0; i < 3 * OwnTraffic::kConnectionsMax; ++i)
    EXPECT_FALSE(own.is_own("10.0.0.1:" + std::to_string(i), "hello", ""));
  for (int i = 0; i < 3; ++i) (void)own.is_own("10.0.0.2:1", "hello", "");
  EXPECT_TRUE(own.is_own("10.0.0.2:1", "exists", "app:proof"));
}

}  // namespace
}  // namespace heatsink::observe
