// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/upstream_address.h"

#include <gtest/gtest.h>

namespace heatsink::redis {
namespace {

net::RedisUrl sentinels() {
  return *net::parse_upstream_url("redis+sentinel://user:secret@a,b/mymaster");
}

std::vector<net::ResolvedAddress> resolved(const std::string& host) {
  return *net::resolve({host, 6379});
}

TEST(UpstreamAddress, AMoveKeepsTheLoginAndIsCounted) {
  UpstreamAddress address(sentinels(), UpstreamAddress::Resolved::kElsewhere);
  EXPECT_EQ(address.where(), "a:26379,b:26379");
  const std::uint64_t before = address.moves();
  address.move_to({"10.0.0.7", 6380}, resolved("10.0.0.7"));
  EXPECT_EQ(address.moves(), before + 1);
  EXPECT_EQ(address.where(), "10.0.0.7:6380");
  EXPECT_EQ(address.url().user, "user");
  EXPECT_EQ(address.url().password, "secret");
  EXPECT_EQ(address.url().topology, net::Topology::kServer);
  EXPECT_EQ(address.addresses().size(), 1U);
}

TEST(UpstreamAddress, AWithheldServerHasNoAddressAndSaysWhy) {
  UpstreamAddress address(sentinels(), UpstreamAddress::Resolved::kElsewhere);
  address.move_to({"10.0.0.7", 6380}, resolved("10.0.0.7"));
  const std::uint64_t before = address.moves();
  address.withhold("a replica has become the master");
  EXPECT_EQ(address.moves(), before + 1);
  EXPECT_TRUE(address.is_withheld());
  EXPECT_TRUE(address.addresses().empty());
  const Status found = address.look_up();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message, "a replica has become the master");
  EXPECT_EQ(address.where(), "10.0.0.7:6380");
  address.move_to({"10.0.0.8", 6380}, resolved("10.0.0.8"));
  EXPECT_FALSE(address.is_withheld());
  EXPECT_TRUE(address.look_up().ok());
}

TEST(UpstreamAddress, OnlyAnAddressOfItsOwnIsResolvedHere) {
  UpstreamAddress here(*net::parse_upstream_url("redis://127.0.0.1:1"));
  EXPECT_TRUE(here.look_up().ok());
  EXPECT_EQ(here.addresses().size(), 1U);
  EXPECT_FALSE(here.may_move());
  UpstreamAddress elsewhere(*net::parse_upstream_url("redis://127.0.0.1:1"),
                            UpstreamAddress::Resolved::kElsewhere);
  EXPECT_FALSE(elsewhere.look_up().ok());
  EXPECT_TRUE(elsewhere.addresses().empty());
}

}  // namespace
}  // namespace heatsink::redis
