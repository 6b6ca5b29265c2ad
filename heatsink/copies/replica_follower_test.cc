// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/replica_follower.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;

policy::ProxyOptions replica_options() {
  policy::ProxyOptions options;
  options.rules.emplace_back();
  options.rules.back().match = "r:*";
  options.rules.back().reads = policy::ReadsFrom::kReplicas;
  return options;
}

detect::Verdict judged(const std::string& name, Temperature temperature) {
  detect::Verdict verdict;
  verdict.count.hash = in_db(hash_name(name, 1), 0);
  verdict.count.key = name;
  verdict.temperature = temperature;
  return verdict;
}

TEST(ReplicaKeys, AreTheHotAndWriteHotOnesOfRulesThatReadFromReplicas) {
  const NodeState shared{replica_options(), net::RedisUrl{}, 1};
  detect::Verdict cut = judged("r:cut", Temperature::kHot);
  cut.count.key_truncated = true;
  const std::vector<detect::Verdict> verdicts{
      judged("r:hot", Temperature::kHot), judged("r:written", Temperature::kWriteHot),
      judged("r:warm", Temperature::kWarm), judged("other", Temperature::kHot), cut};
  const ReplicaKeys keys = replica_keys(shared.current(), verdicts);
  ASSERT_EQ(keys.names.size(), 2U);
  EXPECT_EQ(keys.names[0].name, "r:hot");
  EXPECT_EQ(keys.names[1].name, "r:written");
  EXPECT_EQ(keys.hashes[0], verdicts[0].count.hash);
  EXPECT_EQ(keys.slots,
            (std::set<std::uint16_t>{resp::key_slot("r:hot"), resp::key_slot("r:written")}));
}

TEST(ReplicaKeys, NoneWithoutSuchARule) {
  const NodeState shared{{}, net::RedisUrl{}, 1};
  const std::vector<detect::Verdict> verdicts{judged("r:hot", Temperature::kHot)};
  EXPECT_TRUE(replica_keys(shared.current(), verdicts).names.empty());
}

TEST(MastersOf, ASingleServerIsFollowedAtTheAddressThatTheWorkersUse) {
  NodeState shared{{}, *net::parse_redis_url("redis://127.0.0.1:7001"), 1};
  ASSERT_EQ(masters_of(shared).size(), 1U);
  EXPECT_EQ(masters_of(shared).front().address.port, 7001);
  EXPECT_EQ(masters_of(shared).front().index, topology::kNoNode);
}

TEST(MastersOf, NoneWhileTheServerIsNotKnownOrHasNoNetworkAddress) {
  NodeState local{{}, *net::parse_redis_url("unix:///tmp/no-such-socket"), 1};
  EXPECT_TRUE(masters_of(local).empty());
  NodeState withheld{{}, *net::parse_redis_url("redis://127.0.0.1:7001"), 1};
  withheld.upstream_address.withhold("which server is the master is not known yet");
  EXPECT_TRUE(masters_of(withheld).empty());
}

TEST(ReplicaFollower, DoesNothingBeforeItBegins) {
  NodeState shared{replica_options(), *net::parse_redis_url("redis://127.0.0.1:7001"), 1};
  net::EventLoop loop;  // never runs
  ReplicaFollower follower{shared, loop};
  follower.tick();
  follower.renew();
  follower.follow_options();
  const std::vector<detect::Verdict> verdicts{judged("r:hot", Temperature::kHot)};
  EXPECT_TRUE(follower.follow(verdicts).empty());
}

}  // namespace
}  // namespace heatsink::copies
