// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/address_translation.h"

#include <gtest/gtest.h>

namespace heatsink::topology {
namespace {

std::string reached(std::string_view pairs, const net::HostPort& announced) {
  const auto translation = AddressTranslation::parse(pairs);
  return translation.ok() ? translation->reached(announced).text() : translation.error().message;
}

TEST(AddressTranslation, APairWithAPortComesBeforeOneOfTheHost) {
  constexpr std::string_view kPairs = "10.0.0.5:6379=127.0.0.1:7001, 10.0.0.5=gateway";
  EXPECT_EQ(reached(kPairs, {"10.0.0.5", 6379}), "127.0.0.1:7001");
  EXPECT_EQ(reached(kPairs, {"10.0.0.5", 6380}), "gateway:6380");
  EXPECT_EQ(reached(kPairs, {"10.0.0.6", 6379}), "10.0.0.6:6379");
}

TEST(AddressTranslation, Ipv6AndNothing) {
  EXPECT_EQ(reached("[fd00::1]=[::1]", {"fd00::1", 7}), "[::1]:7");
  EXPECT_EQ(reached("[fd00::1]:7=[::1]:8", {"fd00::1", 7}), "[::1]:8");
  EXPECT_EQ(reached("", {"a", 1}), "a:1");
}

TEST(AddressTranslation, RefusesWhatItCannotRead) {
  EXPECT_NE(reached("a:1", {"a", 1}).find("there is no ="), std::string::npos);
  EXPECT_NE(reached("a:1=b", {"a", 1}).find("\"a:1=b\""), std::string::npos);
  EXPECT_NE(reached("a=b,,", {"a", 1}).find("there is no ="), std::string::npos);
  EXPECT_NE(reached("a:0=b:1", {"a", 1}).find("host:port"), std::string::npos);
}

}  // namespace
}  // namespace heatsink::topology
