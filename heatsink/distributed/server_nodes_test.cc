// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/server_nodes.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heatsink::distributed {
namespace {

// The loop never runs, so nothing is connected.
class ServerNodesTest : public testing::Test {
 protected:
  ServerNodesTest() { options_.translate = "10.0.0.5:7000=127.0.0.1:17000,10.0.0.6=127.0.0.2"; }
  void begin(std::string_view url) {
    nodes_ = std::make_unique<ServerNodes>(loop_, net::parse_redis_url(url).value(),
                                           net::TlsContext(), options_);
  }
  // Asks with a key of its own. The first `times` answers are this error.
  void ask(const std::string& error, std::size_t times = 1) {
    sent_.clear();
    passed_on_.clear();
    nodes_->ask(
        error,
        [this, error, times](ServerNode& node, bool is_asking, const redis::Pipeline::Done& done) {
          if (!is_wanted_ && !sent_.empty()) return false;
          nodes_asked_.insert(&node);
          sent_.push_back((is_asking ? "asking " : "") + node.address.url().address.text());
          if (sent_.size() > times) return true;
          resp::Value reply;
          reply.type = resp::Value::Type::kError;
          reply.text = error;
          done(std::move(reply));
          return true;
        },
        [this](const Result<resp::Value>& reply) { passed_on_ = reply->text; });
  }
  std::string named_by(const std::string& redirect) {
    ask(redirect);
    return sent_.size() == 2 && passed_on_.empty() ? sent_.back() : "none: " + passed_on_;
  }

  net::EventLoop loop_;
  ServerOptions options_;
  std::unique_ptr<ServerNodes> nodes_;
  std::vector<std::string> sent_;
  std::set<const ServerNode*> nodes_asked_;
  std::string passed_on_;
  bool is_wanted_ = true;
};

TEST_F(ServerNodesTest, RedirectsNameNodesAsTheyAreAnnounced) {
  begin("redis://127.0.0.1:17009");
  EXPECT_EQ(named_by("MOVED 3999 10.0.0.5:7000"), "127.0.0.1:17000");
  EXPECT_EQ(named_by("ASK 3999 10.0.0.6:7001"), "asking 127.0.0.2:7001");
  EXPECT_EQ(named_by("MOVED 3999 10.0.0.7:7000"), "10.0.0.7:7000");
  EXPECT_EQ(named_by("MOVED 3999 :7002"), "127.0.0.1:7002") << "of the node that says so";
  EXPECT_EQ(nodes_->redirects(), 4U);
  for (const char* other : {"TRYAGAIN Multiple keys request during rehashing of slot",
                            "MOVED 3999 nowhere", "READONLY You can't write"})
    EXPECT_EQ(named_by(other), "none: " + std::string(other));
  EXPECT_EQ(nodes_->redirects(), 4U);
}

TEST_F(ServerNodesTest, TheFirstNodeIsKnownByWhereItIsReached) {
  begin("redis://127.0.0.1:17000");
  EXPECT_EQ(named_by("MOVED 3999 10.0.0.5:7000"), "127.0.0.1:17000");
  EXPECT_EQ(nodes_asked_.size(), 1U) << "one node, not two of the same address";
}

TEST_F(ServerNodesTest, ALoopOfRedirectsEnds) {
  begin("redis://127.0.0.1:17009");
  ask("MOVED 3999 10.0.0.7:7000", 100);
  EXPECT_EQ(sent_.size(), 1U + Server::kRedirectsMax);
  EXPECT_EQ(passed_on_, "MOVED 3999 10.0.0.7:7000");
}

TEST_F(ServerNodesTest, ACallThatNobodyWaitsForIsNotSentAgain) {
  begin("redis://127.0.0.1:17009");
  is_wanted_ = false;
  ask("MOVED 3999 10.0.0.7:7000");
  EXPECT_EQ(sent_.size(), 1U);
  EXPECT_EQ(nodes_->redirects(), 0U);
  is_wanted_ = true;
  ask("MOVED 3999 10.0.0.7:7000", 0);
  EXPECT_EQ(sent_.front(), "10.0.0.7:7000") << "the slot was learnt all the same";
}

}  // namespace
}  // namespace heatsink::distributed
