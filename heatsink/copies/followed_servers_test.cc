// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/followed_servers.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heatsink/copies/keeper_parts_for_test.h"

namespace heatsink::copies {
namespace {

report::Report upstream_of(const KeeperPartsForTest& parts) {
  report::Report report;
  parts.servers.add_to(report);
  return report;
}

TEST(FollowedServers, SayWhyNoCopiesAreServedBeforeTheFirstContact) {
  const KeeperPartsForTest parts;
  EXPECT_NE(parts.servers.coherence(), "up");
  const report::Report report = upstream_of(parts);
  EXPECT_EQ(report.upstream, "127.0.0.1:7001");
  EXPECT_FALSE(report.upstream_up);
  EXPECT_NE(report.upstream_problem, "");
}

TEST(FollowedServers, SayThatCopiesAreOff) {
  policy::ProxyOptions options;
  options.cache_enabled = false;
  const KeeperPartsForTest parts(options);
  EXPECT_EQ(parts.servers.coherence(), "off (cache.enabled is false)");
}

TEST(FollowedServers, SayThatTheMasterIsNotKnown) {
  KeeperPartsForTest parts;
  parts.shared.upstream_address.withhold("no Sentinel answers");
  EXPECT_EQ(parts.servers.coherence(), "no Sentinel answers");
  EXPECT_FALSE(upstream_of(parts).upstream_up);
  EXPECT_EQ(upstream_of(parts).upstream_problem, "no Sentinel answers");
}

TEST(FollowedServers, LearnWhoMayRunCommandsThere) {
  KeeperPartsForTest parts;
  redis::ServerFacts facts;
  facts.open = false;
  parts.servers.learn(facts);
  EXPECT_FALSE(parts.shared.upstream_open);
  facts.open = true;
  parts.servers.learn(facts);
  EXPECT_TRUE(parts.shared.upstream_open);
  EXPECT_FALSE(parts.shared.is_cluster_node);
}

TEST(FollowedServers, CountEachChangeOfTheContact) {
  KeeperPartsForTest parts;
  parts.servers.proof_state_changed(true);
  parts.servers.proof_state_changed(false);
  EXPECT_EQ(parts.shared.contact_changes, 2U);
}

TEST(FollowedServers, KnowNoRightsWithoutAServer) {
  const KeeperPartsForTest parts;
  EXPECT_FALSE(parts.servers.rights_known());
}

// The filler has the tracker as its source: without a contact each fill fails at once.
TEST(FollowedServers, AreTheSourceOfFills) {
  KeeperPartsForTest parts;
  const KeyHash hash = in_db(hash_name("k", 1), 0);
  parts.filler.request({.worker = 0, .hash = hash, .key = "k", .db = 0, .fence = at(0)}, at(1));
  EXPECT_EQ(parts.counters.read(Count::kFillsFailed), 1U);
}

}  // namespace
}  // namespace heatsink::copies
