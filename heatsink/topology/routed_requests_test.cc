// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/routed_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/resp/key_slot.h"

namespace heatsink::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const net::HostPort kNodeA{"10.0.0.1", 1}, kNodeB{"10.0.0.2", 2};

net::RedisUrl cluster_url() {
  net::RedisUrl url;
  url.topology = net::Topology::kCluster;
  url.address = kNodeA;
  return url;
}

class RoutedRequestsTest : public testing::Test, protected RoutedRequests::Nodes {
 protected:
  struct Sent {
    NodeIndex node;
    std::string command;
    bool is_asking;
    RoutedRequests::Done done;
  };

  RoutedRequestsTest() {
    directory_.on_stale([this](std::optional<NodeIndex> hint) { hints_.push_back(hint); });
  }

  void send(NodeIndex node, const RoutedRequests::Words& words, bool is_asking,
            RoutedRequests::Done done) override {
    sent_.push_back({node, words->front() + " " + words->at(1), is_asking, std::move(done)});
  }
  void on_redirected(std::string_view key) override { redirected_.emplace_back(key); }

  // All slots belong to this node.
  void give_to(const net::HostPort& owner) {
    directory_.publish({{.master = owner, .replicas = {}, .slots = {{0, resp::kSlots - 1}}}},
                       kNodeA, ++epoch_);
  }
  void ask(const std::string& key = "k") {
    requests_.ask(
        std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"GET", key}),
        [this](const Result<resp::Value>& said) {
          outcomes_.push_back(said.ok() ? said->text : "no reply: " + said.error().message);
        },
        now_);
  }
  static resp::Value text(const std::string& text) {
    resp::Value value;
    value.type = resp::Value::Type::kString;
    value.text = text;
    return value;
  }
  static resp::Value error(const std::string& text) {
    resp::Value value;
    value.type = resp::Value::Type::kError;
    value.text = text;
    return value;
  }
  // The latest command gets this reply.
  void reply(Result<resp::Value> said) {
    const RoutedRequests::Done done = std::move(sent_.back().done);
    done(std::move(said));
  }
  NodeIndex number(const net::HostPort& of) { return directory_.node_at(of, of).value(); }
  void pass(Nanos time) {
    now_ += time;
    requests_.tick(now_);
  }

  ClusterDirectory directory_{cluster_url()};
  RoutedRequests requests_{directory_, *this, std::chrono::seconds(1)};
  TimePoint now_{std::chrono::hours(1)};
  std::uint64_t epoch_ = 0;
  std::vector<Sent> sent_;
  std::vector<std::string> outcomes_, redirected_;
  std::vector<std::optional<NodeIndex>> hints_;
};

TEST_F(RoutedRequestsTest, TheOwnerOfTheSlotIsAsked) {
  give_to(kNodeB);
  ask();
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].node, number(kNodeB));
  EXPECT_EQ(sent_[0].command, "GET k");
  EXPECT_FALSE(sent_[0].is_asking);
  reply(text("v"));
  EXPECT_THAT(outcomes_, ElementsAre("v"));
  EXPECT_THAT(redirected_, ElementsAre());
}

TEST_F(RoutedRequestsTest, WithoutAMapACommandWaitsForIt) {
  ask();
  EXPECT_EQ(requests_.waiting(), 1u);
  EXPECT_THAT(hints_, ElementsAre(std::nullopt));
  give_to(kNodeA);
  pass(Millis(50));
  ASSERT_EQ(sent_.size(), 1u);
  reply(text("v"));
  EXPECT_THAT(outcomes_, ElementsAre("v"));
}

TEST_F(RoutedRequestsTest, WithoutAMapForTooLongItFails) {
  ask();
  pass(std::chrono::seconds(1) + Millis(1));
  EXPECT_EQ(requests_.waiting(), 0u);
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_THAT(outcomes_[0], HasSubstr("map of its slots"));
}

TEST_F(RoutedRequestsTest, MovedIsFollowedAndTheMapAskedForAnew) {
  give_to(kNodeA);
  ask();
  reply(error("MOVED 12706 10.0.0.2:2"));
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[1].node, number(kNodeB));
  EXPECT_FALSE(sent_[1].is_asking);
  EXPECT_THAT(hints_, ElementsAre(number(kNodeB)));
  EXPECT_THAT(redirected_, ElementsAre("k"));
  reply(text("v"));
  EXPECT_THAT(outcomes_, ElementsAre("v"));
}

TEST_F(RoutedRequestsTest, AskIsFollowedOnceAndKeepsTheMap) {
  give_to(kNodeA);
  ask();
  reply(error("ASK 12706 10.0.0.2:2"));
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[1].node, number(kNodeB));
  EXPECT_TRUE(sent_[1].is_asking);
  EXPECT_THAT(hints_, ElementsAre());
  EXPECT_THAT(redirected_, ElementsAre("k"));
}

TEST_F(RoutedRequestsTest, ARedirectWithoutAHostIsToTheSameHost) {
  give_to(kNodeA);
  ask();
  reply(error("MOVED 12706 :7"));
  ASSERT_EQ(sent_.size(), 2u);
  EXPECT_EQ(sent_[1].node, number({"10.0.0.1", 7}));
}

TEST_F(RoutedRequestsTest, WhatANodeCannotExecuteNowIsSentAgainLater) {
  give_to(kNodeA);
  for (const char* const refusal :
       {"TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN Hash slot"}) {
    ask();
    reply(error(refusal));
    EXPECT_EQ(requests_.waiting(), 1u) << refusal;
    pass(Millis(50));
    reply(text(refusal));
  }
  EXPECT_EQ(outcomes_.size(), 2u);
  EXPECT_EQ(sent_.size(), 4u);
}

TEST_F(RoutedRequestsTest, AClusterThatStaysDownIsAnErrorWithItsWords) {
  give_to(kNodeA);
  ask();
  reply(error("CLUSTERDOWN The cluster is down"));
  pass(Millis(2000));
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_THAT(outcomes_[0], HasSubstr("The cluster is down"));
}

TEST_F(RoutedRequestsTest, RedirectsInACircleEnd) {
  give_to(kNodeA);
  ask();
  for (int turn = 0; turn < 25 && outcomes_.empty(); ++turn) {
    for (std::size_t before = 0; before != sent_.size();) {
      before = sent_.size();
      reply(error(sent_.back().node == number(kNodeA) ? "MOVED 12706 10.0.0.2:2"
                                                      : "MOVED 12706 10.0.0.1:1"));
    }
    EXPECT_LE(sent_.size(),
              (RoutedRequests::kRedirectsMax + 1) * (static_cast<unsigned>(turn) + 1));
    pass(Millis(50));
  }
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_THAT(outcomes_[0], HasSubstr("MOVED"));
}

TEST_F(RoutedRequestsTest, ALostConnectionIsNotRepeated) {
  give_to(kNodeA);
  ask();
  reply(Error{ErrorCode::kUnavailable, "gone"});
  EXPECT_THAT(outcomes_, ElementsAre("no reply: gone"));
  EXPECT_THAT(hints_, ElementsAre(std::nullopt));
  EXPECT_EQ(sent_.size(), 1u);
}

TEST_F(RoutedRequestsTest, OtherErrorsArePassedOn) {
  give_to(kNodeA);
  ask();
  reply(error("WRONGTYPE Operation against a key"));
  EXPECT_THAT(outcomes_, ElementsAre("WRONGTYPE Operation against a key"));
}

TEST_F(RoutedRequestsTest, AfterTheEndNothingWaits) {
  ask();
  requests_.close("the end");
  give_to(kNodeA);
  ask();
  reply(error("TRYAGAIN"));
  EXPECT_THAT(outcomes_, ElementsAre("no reply: the end", "no reply: the end"));
  EXPECT_EQ(requests_.waiting(), 0u);
}

}  // namespace
}  // namespace heatsink::topology
