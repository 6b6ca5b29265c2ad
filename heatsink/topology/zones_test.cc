// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/zones.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::topology {
namespace {

TEST(ZonesTest, AServerComesBeforeItsHost) {
  const Zones zones =
      Zones::parse("10.0.0.5:6379=eu-1a, 10.0.0.5=eu-1b ,[::1]:7000=c,[::2]=d,db=e").value();
  EXPECT_EQ(zones.of({"10.0.0.5", 6379}), "eu-1a");
  EXPECT_EQ(zones.of({"10.0.0.5", 6380}), "eu-1b");
  EXPECT_EQ(zones.of({"::1", 7000}), "c");
  EXPECT_EQ(zones.of({"::1", 7001}), "");
  EXPECT_EQ(zones.of({"::2", 7000}), "d");
  EXPECT_EQ(zones.of({"db", 1}), "e");
  EXPECT_EQ(zones.of({"other", 1}), "");
  EXPECT_EQ(Zones::parse("").value().of({"db", 1}), "");
}

TEST(ZonesTest, WhatIsNoPairIsRefused) {
  for (const char* text : {"a", "=zone", "a=", "a=b,", "a:b:c=d", ":6379=z", "a:0=z"})
    EXPECT_FALSE(Zones::parse(text).ok()) << text;
  EXPECT_FALSE(Zones::parse("a=" + std::string(Zones::kNameBytesMax + 1, 'z')).ok());
  std::string many;
  for (std::size_t i = 0; i <= Zones::kPairsMax; ++i) many += "h" + std::to_string(i) + "=z,";
  EXPECT_FALSE(Zones::parse(many + "last=z").ok());
}

}  // namespace
}  // namespace heatsink::topology
