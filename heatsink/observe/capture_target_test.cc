// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ServerAddress server_at(std::string_view url) {
  ServerAddress out;
  out.url = net::parse_redis_url(url).value();
  out.addresses = net::resolve_server(out.url).value();
  return out;
}

TEST(CaptureTarget, WithoutAServerItIsThePort) {
  const CaptureTarget target = capture_target(nullptr, "eth0", {});
  EXPECT_FALSE(target.is_here) << "it may be a client's machine";
  EXPECT_THAT(target.ports, ElementsAre(6379));
  EXPECT_THAT(target.hosts, IsEmpty());
  EXPECT_EQ(target.unfit + target.unfit_for_auto, "");
  EXPECT_EQ(target.where(), "port 6379 on interface eth0");
  EXPECT_EQ(capture_target(nullptr, "any", {6379, 6380}).where(),
            "ports 6379, 6380 on interface any");
}

TEST(CaptureTarget, AServerOfThisMachineIsAllOfItsPort) {
  const ServerAddress server = server_at("redis://127.0.0.1:7000");
  const CaptureTarget target = capture_target(&server, "any", {});
  EXPECT_THAT(target.ports, ElementsAre(7000));
  EXPECT_THAT(target.hosts, IsEmpty());
  EXPECT_TRUE(target.is_here);
  EXPECT_EQ(target.unfit + target.unfit_for_auto, "");
}

TEST(CaptureTarget, OfAnotherMachineItIsItsAddressesAndAskedForOnly) {
  const ServerAddress server = server_at("redis://192.0.2.1:7000");
  const CaptureTarget target = capture_target(&server, "any", {});
  EXPECT_THAT(target.hosts, ElementsAre("192.0.2.1"));
  EXPECT_FALSE(target.is_here);
  EXPECT_EQ(target.unfit, "");
  EXPECT_THAT(target.unfit_for_auto, HasSubstr("another machine"));
  EXPECT_EQ(target.where(), "port 7000 of 192.0.2.1 on interface any");
}

TEST(CaptureTarget, WhatCannotBeCapturedIsSaid) {
  const ServerAddress tls = server_at("rediss://127.0.0.1:7000");
  EXPECT_THAT(capture_target(&tls, "any", {}).unfit, HasSubstr("TLS"));
  const ServerAddress unix_socket = server_at("unix:///run/redis.sock");
  EXPECT_THAT(capture_target(&unix_socket, "any", {}).unfit, HasSubstr("Unix socket"));
}

}  // namespace
}  // namespace heatsink::observe
