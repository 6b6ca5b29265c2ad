// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/server_nodes.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::distributed {
namespace {

// The loop never runs, so nothing is connected.
class ServerNodesTest : public testing::Test {
 protected:
  ServerNodesTest() { options_.translate = "10.0.0.5:7000=127.0.0.1:17000,10.0.0.6=127.0.0.2"; }
  std::string named_by(std::string_view redirect) {
    const ServerNode* const node = nodes_->named_by(redirect, first());
    return node == nullptr ? "none" : node->address.url().address.text();
  }
  const ServerNode& first() { return nodes_->of("k"); }

  net::EventLoop loop_;
  ServerOptions options_;
  std::unique_ptr<ServerNodes> nodes_;
};

TEST_F(ServerNodesTest, RedirectsNameNodesAsTheyAreAnnounced) {
  nodes_ = std::make_unique<ServerNodes>(
      loop_, net::parse_redis_url("redis://127.0.0.1:17009").value(), net::TlsContext(), options_);
  EXPECT_EQ(named_by("MOVED 3999 10.0.0.5:7000"), "127.0.0.1:17000");
  EXPECT_EQ(named_by("ASK 3999 10.0.0.6:7001"), "127.0.0.2:7001");
  EXPECT_EQ(named_by("MOVED 3999 10.0.0.7:7000"), "10.0.0.7:7000");
  EXPECT_EQ(named_by("MOVED 3999 :7002"), "127.0.0.1:7002") << "of the node that says so";
  EXPECT_EQ(named_by("TRYAGAIN Multiple keys request during rehashing of slot"), "none");
  EXPECT_EQ(named_by("MOVED 3999 nowhere"), "none");
}

TEST_F(ServerNodesTest, TheFirstNodeIsKnownByWhereItIsReached) {
  nodes_ = std::make_unique<ServerNodes>(
      loop_, net::parse_redis_url("redis://127.0.0.1:17000").value(), net::TlsContext(), options_);
  EXPECT_EQ(nodes_->named_by("MOVED 3999 10.0.0.5:7000", first()), &first());
}

}  // namespace
}  // namespace heatsink::distributed
