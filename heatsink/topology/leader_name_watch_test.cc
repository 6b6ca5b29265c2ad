// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/leader_name_watch.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "heatsink/topology/leader_watch.h"
#include "heatsink/topology/make_leader_watch.h"

namespace heatsink::topology {
namespace {

struct Heard final : LeaderWatch::Listener {
  void leader_changed(const LeaderVerdict& verdict, const LeaderResolver::Addresses& addresses,
                      bool renews) override {
    verdicts.push_back(verdict);
    last = addresses;
    renewals += renews ? 1 : 0;
  }
  void leader_confirmed(TimePoint at) override { confirmed_at = at; }

  std::vector<LeaderVerdict> verdicts;
  LeaderResolver::Addresses last;
  int renewals = 0;
  TimePoint confirmed_at = TimePoint::min();
};

LeaderResolver::Addresses addresses(const std::vector<const char*>& hosts) {
  LeaderResolver::Addresses out;
  for (const char* host : hosts) out.push_back(net::resolve({host, 6379})->front());
  return out;
}

TEST(LeaderPublisher, EachChangeIsSaidOnce) {
  Heard heard;
  LeaderPublisher publisher(heard);
  LeaderVerdict verdict;
  verdict.problem = "not known yet";
  publisher.publish(verdict, {});
  publisher.publish(verdict, {});
  EXPECT_EQ(heard.verdicts.size(), 1U);
  verdict = {.leader = net::HostPort{"a", 6379}, .problem = "", .confirmed_at = TimePoint::max()};
  publisher.publish(verdict, addresses({"10.0.0.1"}));
  publisher.publish(verdict, addresses({"10.0.0.1"}));
  EXPECT_EQ(heard.verdicts.size(), 2U);
  EXPECT_EQ(heard.confirmed_at, TimePoint::max());
}

TEST(LeaderPublisher, ANameThatLeadsElsewhereIsAChange) {
  Heard heard;
  LeaderPublisher publisher(heard);
  LeaderVerdict verdict;
  verdict.leader = net::HostPort{"a", 6379};
  publisher.publish(verdict, addresses({"10.0.0.1", "10.0.0.2"}));
  publisher.publish(verdict, addresses({"10.0.0.2", "10.0.0.1"}));  // name servers rotate
  EXPECT_EQ(heard.verdicts.size(), 1U);
  publisher.publish(verdict, addresses({"10.0.0.2"}));
  EXPECT_EQ(heard.verdicts.size(), 2U);
  EXPECT_EQ(heard.last.size(), 1U);
}

class NameWatchTest : public testing::Test {
 protected:
  // The "name" is numeric, so its look-ups need no name server.
  NameWatchTest() { options_.url = *net::parse_upstream_url("redis://10.0.0.2:6379"); }
  void begin(const std::vector<const char*>& in_use) {
    options_.resolved = addresses(in_use);
    watch_.emplace(loop_, options_, heard_);
    watch_->begin();
  }

  net::EventLoop loop_;
  Heard heard_;
  LeaderWatchOptions options_;
  std::optional<NameWatch> watch_;
};

TEST_F(NameWatchTest, TheAddressInUseStays) {
  begin({"10.0.0.2"});
  EXPECT_TRUE(heard_.verdicts.empty());
}

TEST_F(NameWatchTest, AnotherAddressIsAMove) {
  begin({"10.0.0.1"});
  ASSERT_EQ(heard_.verdicts.size(), 1U);
  EXPECT_EQ(heard_.verdicts[0].leader->text(), "10.0.0.2:6379");
  EXPECT_EQ(heard_.renewals, 1) << "else the connections to the old address stay";
  EXPECT_EQ(heard_.confirmed_at, TimePoint::max());
  EXPECT_EQ(net::host_text(heard_.last.front()), "10.0.0.2");
}

TEST_F(NameWatchTest, ADoubtRenewsTheConnectionsNotTooOften) {
  begin({"10.0.0.2"});
  watch_->doubt();
  EXPECT_EQ(heard_.renewals, 1);
  watch_->doubt();
  EXPECT_EQ(heard_.renewals, 1);
}

TEST(LeaderWatch, OnlyServersThatMayMoveAreWatched) {
  const auto watched = [](const char* url) { return is_watched(*net::parse_upstream_url(url)); };
  EXPECT_TRUE(watched("redis://cache.example.com"));
  EXPECT_TRUE(watched("redis+sentinel://10.0.0.1/mymaster"));
  EXPECT_TRUE(watched("redis+replicas://10.0.0.1,10.0.0.2"));
  EXPECT_FALSE(watched("redis://10.0.0.1"));
  EXPECT_FALSE(watched("redis://[::1]:6379"));
  EXPECT_FALSE(watched("unix:///run/redis.sock"));
  EXPECT_FALSE(watched("redis+cluster://10.0.0.1"));
}

}  // namespace
}  // namespace heatsink::topology
