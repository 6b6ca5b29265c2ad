// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/announced.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heatsink::policy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ProxyOptions presenting(const std::string& own = "", const std::string& all = "") {
  ProxyOptions options;
  options.present_as = PresentAs::kCluster;
  options.announce_address = own;
  options.announce_addresses = all;
  return options;
}

TEST(Announced, IsTheAddressTheClientCameTo) {
  const Result<Announced> told = announced(presenting(), "10.0.0.5:6380");
  ASSERT_TRUE(told.ok());
  ASSERT_EQ(told->nodes.size(), 1U);
  EXPECT_EQ(told->nodes.front().text(), "10.0.0.5:6380");
  EXPECT_EQ(announced(presenting(), "[::1]:6380")->nodes.front().host, "::1");
  EXPECT_EQ(announced(presenting(), "[::ffff:10.0.0.5]:6380")->nodes.front().host, "10.0.0.5");
  for (const char* reached : {"unix:", "unknown", ""})
    EXPECT_THAT(announced(presenting(), reached).error().message,
                HasSubstr("set proxy.announce-address"))
        << reached;
}

TEST(Announced, IsTheOptionIfItIsSet) {
  EXPECT_EQ(announced(presenting("proxy.example:7000"), "10.0.0.5:6380")->nodes.front().text(),
            "proxy.example:7000");
}

TEST(Announced, NamesAllProxiesAndKnowsItself) {
  const auto options = presenting("b:2", "a:1, b:2,c:3");
  const Result<Announced> told = announced(options, "10.0.0.5:6380");
  ASSERT_TRUE(told.ok());
  ASSERT_EQ(told->nodes.size(), 3U);
  EXPECT_EQ(told->nodes[2].text(), "c:3");
  EXPECT_EQ(told->self, 1U);
  EXPECT_THAT(announced_fault(options), IsEmpty());
}

TEST(Announced, FaultsSayWhatToDo) {
  EXPECT_THAT(announced_fault(presenting()), IsEmpty());
  EXPECT_THAT(announced_fault(presenting("a")), HasSubstr("proxy.announce-address: "));
  EXPECT_THAT(announced_fault(presenting(":6380")), HasSubstr("':6380' is no address"));
  EXPECT_THAT(announced_fault(presenting("a:0")), HasSubstr("'a:0' is no address"));
  EXPECT_THAT(announced_fault(presenting("", "a:1,b:2")),
              HasSubstr("proxy.announce-address is not"));
  EXPECT_THAT(announced_fault(presenting("c:3", "a:1,b:2")),
              HasSubstr("does not name this proxy, c:3"));
  EXPECT_THAT(announced_fault(presenting("a:1", "a:1,a:1")), HasSubstr("names a:1 twice"));
  EXPECT_THAT(announced_fault(presenting("a:1", "a:1,")), HasSubstr("proxy.announce-addresses: "));
  std::string many = "a:1";
  for (int i = 2; i <= 65; ++i) many += ",a:" + std::to_string(i);
  EXPECT_THAT(announced_fault(presenting("a:1", many)), HasSubstr("more than 64"));
  ProxyOptions unix = presenting();
  unix.listen = "unix:/run/heatsink.sock";
  EXPECT_THAT(announced_fault(unix), HasSubstr("Unix socket"));
  unix.announce_address = "a:1";
  EXPECT_THAT(announced_fault(unix), IsEmpty());
  ProxyOptions server = presenting("a:1");
  server.present_as = PresentAs::kServer;
  EXPECT_THAT(announced_fault(server), HasSubstr("need proxy.present-as: cluster"));
}

}  // namespace
}  // namespace heatsink::policy
