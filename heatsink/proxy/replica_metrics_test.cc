// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/replica_metrics.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::proxy {
namespace {

using topology::ReplicaFault;

class ReplicaMetricsTest : public testing::Test {
 protected:
  ReplicaMetricsTest() {
    auto map = std::make_shared<topology::ReplicaMap>();
    map->shards.push_back({topology::kNoNode, {one_, two_}});
    directory_.publish(map);
  }
  std::vector<report::ReplicaReport> seen(TimePoint confirmed_at = TimePoint::max()) {
    return replicas_seen(directory_, std::chrono::seconds(1), confirmed_at, at(2000));
  }

  // Heard and proven at the same time.
  static void prove(topology::Replica& replica, TimePoint when) {
    topology::ReplicaProof proof;
    proof.heard_at = when;
    proof.fault = ReplicaFault::kNone;
    replica.publish(proof, when);
  }
  static net::RedisUrl url(std::uint16_t port) {
    net::RedisUrl out;
    out.address = {"10.0.0.1", port};
    return out;
  }

  topology::ReplicaDirectory directory_;
  std::shared_ptr<topology::Replica> one_ = std::make_shared<topology::Replica>(url(1), false);
  std::shared_ptr<topology::Replica> two_ = std::make_shared<topology::Replica>(url(2), false);
};

TEST_F(ReplicaMetricsTest, TheAgeIsThatOfTheProof) {
  prove(*one_, at(1500));
  one_->set_zone("a", true);
  one_->reads = 3;
  const std::vector<report::ReplicaReport> replicas = seen();
  ASSERT_EQ(replicas.size(), 2U);
  EXPECT_EQ(replicas[0].address, "10.0.0.1:1");
  EXPECT_EQ(replicas[0].age, Millis(500));
  EXPECT_TRUE(replicas[0].is_fresh);
  EXPECT_EQ(replicas[0].fault, "");
  EXPECT_TRUE(replicas[0].is_near);
  EXPECT_FALSE(replicas[1].age);
  EXPECT_EQ(replicas[1].fault, "silent");
  MetricSamples samples;
  append_replica_samples(samples, replicas);
  ASSERT_EQ(samples.size(), 5U) << "no age without a proof";
  EXPECT_EQ(samples[1].value, 0.5);
  EXPECT_EQ(samples[2].value, 3);
  EXPECT_EQ(samples[3].value, 0);
}

TEST_F(ReplicaMetricsTest, AnOldProofIsBehind) {
  prove(*one_, at(900));
  EXPECT_EQ(seen()[0].fault, "behind");
  prove(*one_, at(1900));
  EXPECT_TRUE(seen()[0].is_fresh);
  EXPECT_EQ(seen(at(900))[0].fault, "behind") << "the master was not confirmed since then";
}

TEST(ReplicaMetrics, WithoutAMapThereIsNothing) {
  const topology::ReplicaDirectory directory;
  EXPECT_TRUE(replicas_seen(directory, Nanos(0), TimePoint::max(), at(0)).empty());
}

}  // namespace
}  // namespace heatsink::proxy
