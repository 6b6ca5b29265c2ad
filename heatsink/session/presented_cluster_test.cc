// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/presented_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using resp::Protocol;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

struct Presented {
  policy::Announced nodes{{{"10.0.0.5", 6380}}, 0};
  bool tls = false;

  std::string ask(std::vector<std::string_view> args, Protocol protocol = Protocol::kResp2) const {
    args.insert(args.begin(), "CLUSTER");
    ByteBuffer out;
    PresentedCluster(nodes, tls).append_reply(out, args, protocol);
    return std::string(out.view());
  }
  resp::Value value(std::vector<std::string_view> args,
                    Protocol protocol = Protocol::kResp2) const {
    resp::Value value;
    std::size_t used = 0;
    const std::string wire = ask(std::move(args), protocol);
    EXPECT_EQ(resp::parse_value(wire, value, used), resp::ValueStatus::kValue) << wire;
    EXPECT_EQ(used, wire.size());
    return value;
  }
};

Presented three() {
  return {{{{"10.0.0.5", 6380}, {"10.0.0.6", 6380}, {"proxy.example", 60000}}, 1}, false};
}

TEST(PresentedCluster, IsOneNodeWithAllSlots) {
  const Presented cluster;
  const std::string id = PresentedCluster::node_id({"10.0.0.5", 6380});
  EXPECT_THAT(id, MatchesRegex("[0-9a-f]{40}"));
  EXPECT_EQ(cluster.ask({"SLOTS"}),
            "*1\r\n*3\r\n:0\r\n:16383\r\n*4\r\n$8\r\n10.0.0.5\r\n:6380\r\n"
            "$40\r\n" +
                id + "\r\n*0\r\n");
  EXPECT_THAT(cluster.ask({"slots"}, Protocol::kResp3), HasSubstr(id + "\r\n%0\r\n"));
  EXPECT_EQ(cluster.ask({"MYID"}), "$40\r\n" + id + "\r\n");
  const std::string line = id + " 10.0.0.5:6380@16380 myself,master - 0 0 1 connected 0-16383\n";
  EXPECT_EQ(cluster.ask({"NODES"}), "$" + std::to_string(line.size()) + "\r\n" + line + "\r\n");
  EXPECT_EQ(cluster.ask({"NODES"}, Protocol::kResp3),
            "=" + std::to_string(line.size() + 4) + "\r\ntxt:" + line + "\r\n");
  EXPECT_THAT(cluster.ask({"INFO"}), HasSubstr("\r\ncluster_size:1\r\n"));
  EXPECT_EQ(cluster.ask({"KEYSLOT", "foo"}), ":12182\r\n");
  EXPECT_EQ(cluster.ask({"LINKS"}), "*0\r\n");
  EXPECT_EQ(cluster.ask({"REPLICAS", id}), "*0\r\n");
  EXPECT_EQ(cluster.ask({"SLAVES", id}), "*0\r\n");
  EXPECT_EQ(cluster.ask({"COUNT-FAILURE-REPORTS", id}), ":0\r\n");
}

TEST(PresentedCluster, IdsComeFromTheAddressAlone) {
  // Written down: an id that changes with a release would look like another cluster.
  EXPECT_EQ(PresentedCluster::node_id({"10.0.0.5", 6380}),
            "c46f6646b524cafe9a7866d26706d7275a05bc7e");
  EXPECT_NE(PresentedCluster::node_id({"10.0.0.5", 6381}),
            PresentedCluster::node_id({"10.0.0.5", 6380}));
  EXPECT_NE(PresentedCluster::shard_id({"10.0.0.5", 6380}),
            PresentedCluster::node_id({"10.0.0.5", 6380}));
  const Presented cluster;
  EXPECT_EQ(cluster.ask({"MYSHARDID"}),
            "$40\r\n" + PresentedCluster::shard_id({"10.0.0.5", 6380}) + "\r\n");
}

TEST(PresentedCluster, DividesTheSlotsAmongSeveralProxies) {
  const resp::Value slots = three().value({"SLOTS"});
  ASSERT_EQ(slots.items.size(), 3U);
  std::int64_t next = 0;
  std::set<std::string> ids;
  for (const resp::Value& each : slots.items) {
    EXPECT_EQ(each.items[0].integer, next);
    const std::int64_t count = each.items[1].integer - each.items[0].integer + 1;
    EXPECT_NEAR(static_cast<double>(count), 16384.0 / 3, 1);
    next = each.items[1].integer + 1;
    ids.insert(each.items[2].items[2].text);
  }
  EXPECT_EQ(next, 16384);
  EXPECT_EQ(ids.size(), 3U);

  const std::string nodes = three().ask({"NODES"});
  EXPECT_THAT(nodes, HasSubstr(" 10.0.0.5:6380@16380 master - 0 0 1 connected 0-5460\n"));
  EXPECT_THAT(nodes, HasSubstr(" 10.0.0.6:6380@16380 myself,master - 0 0 2 connected 5461-10921"));
  // No port above 65535.
  EXPECT_THAT(nodes, HasSubstr(" proxy.example:60000@0 master - 0 0 3 connected 10922-16383\n"));
  EXPECT_THAT(three().ask({"INFO"}), HasSubstr("cluster_known_nodes:3\r\ncluster_size:3\r\n"
                                               "cluster_current_epoch:3\r\ncluster_my_epoch:2"));
  EXPECT_EQ(three().ask({"REPLICAS", PresentedCluster::node_id({"10.0.0.5", 6380})}), "*0\r\n");
}

TEST(PresentedCluster, ShardsNameThePortThatClientsUse) {
  Presented cluster;
  const auto node = [&cluster](Protocol protocol) {
    return cluster.value({"SHARDS"}, protocol).items.at(0).find("nodes")->items.at(0);
  };
  for (const Protocol protocol : {Protocol::kResp2, Protocol::kResp3}) {
    cluster.tls = false;
    EXPECT_EQ(node(protocol).find("port")->integer, 6380);
    EXPECT_EQ(node(protocol).find("tls-port"), nullptr);
    EXPECT_EQ(node(protocol).find("endpoint")->text, "10.0.0.5");
    EXPECT_EQ(node(protocol).find("health")->text, "online");
    cluster.tls = true;
    EXPECT_EQ(node(protocol).find("tls-port")->integer, 6380);
    EXPECT_EQ(node(protocol).find("port"), nullptr);
  }
}

TEST(PresentedCluster, RefusesWhatWouldChangeACluster) {
  const Presented cluster;
  using Args = std::vector<std::string_view>;
  for (const Args& args : {Args{"MEET", "10.0.0.9", "6379"}, Args{"ADDSLOTS", "1"},
                           Args{"FAILOVER"}, Args{"RESET", "HARD"}, Args{"forget", "x"},
                           Args{"SETSLOT", "1", "STABLE"}, Args{"MIGRATION", "IMPORT", "0", "1"}}) {
    EXPECT_THAT(cluster.ask(args), StartsWith("-ERR heatsink: CLUSTER ")) << args[0];
    EXPECT_THAT(cluster.ask(args), HasSubstr(" is refused: ")) << args[0];
  }
}

TEST(PresentedCluster, HasNoKeysOfItsOwn) {
  const Presented cluster;
  EXPECT_THAT(cluster.ask({"COUNTKEYSINSLOT", "5"}),
              StartsWith("-ERR heatsink: CLUSTER COUNTKEYSINSLOT needs a server in cluster mode"));
  EXPECT_TRUE(needs_cluster_server("GetKeysInSlot"));
  EXPECT_TRUE(needs_cluster_server("slot-stats"));
  EXPECT_FALSE(needs_cluster_server("slots"));
  EXPECT_FALSE(needs_cluster_server("what"));
}

TEST(PresentedCluster, ErrorsAreThoseOfAServer) {
  const Presented cluster;
  EXPECT_EQ(cluster.ask({}), "-ERR wrong number of arguments for 'cluster' command\r\n");
  EXPECT_EQ(cluster.ask({"KEYSLOT"}),
            "-ERR wrong number of arguments for 'cluster|keyslot' command\r\n");
  EXPECT_EQ(cluster.ask({"SLOTS", "1"}),
            "-ERR wrong number of arguments for 'cluster|slots' command\r\n");
  EXPECT_EQ(cluster.ask({"foo"}), "-ERR unknown subcommand 'foo'. Try CLUSTER HELP.\r\n");
  EXPECT_EQ(cluster.ask({"REPLICAS", "x"}), "-ERR Unknown node x\r\n");
  EXPECT_THAT(cluster.ask({"HELP"}), HasSubstr("\r\n+SHARDS\r\n"));
}

TEST(PresentedCluster, RepliesOfTheServerSayCluster) {
  const std::string info =
      "# Server\r\nredis_mode:standalone\r\nos:x\r\n# Cluster\r\n"
      "cluster_enabled:0\r\n";
  const std::string wire = "$" + std::to_string(info.size()) + "\r\n" + info + "\r\n";
  const std::string changed = as_in_cluster(wire);
  EXPECT_THAT(changed, HasSubstr("\r\nredis_mode:cluster\r\n"));
  EXPECT_THAT(changed, HasSubstr("\r\ncluster_enabled:1\r\n"));
  EXPECT_THAT(changed, Not(HasSubstr("standalone")));
  EXPECT_THAT(changed, StartsWith("$" + std::to_string(info.size() - 3) + "\r\n# Server"));
  EXPECT_EQ(as_in_cluster("=" + std::to_string(info.size() + 4) + "\r\ntxt:" + info + "\r\n"),
            "=" + std::to_string(info.size() + 1) + "\r\ntxt:" + changed.substr(5));
  EXPECT_EQ(as_in_cluster(changed), changed);

  EXPECT_EQ(as_in_cluster("%1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n"),
            "%1\r\n$4\r\nmode\r\n$7\r\ncluster\r\n");
  EXPECT_EQ(as_in_cluster("-NOAUTH x\r\n"), "-NOAUTH x\r\n");
  // A reply that was cut must not reach the client as a whole one.
  EXPECT_THAT(as_in_cluster(wire.substr(0, wire.size() - 5)), StartsWith("-ERR heatsink: "));
}

// A client of a proxy with proxy.present-as: cluster.
class PresentedToClientTest : public ReliefTest {
 protected:
  void begin() {
    options.present_as = policy::PresentAs::kCluster;
    start();
  }
  bool answers(std::initializer_list<std::string_view> words, bool receives_messages = false) {
    return answers_as_cluster(request(words), *parts, state, receives_messages);
  }
  std::string reply(std::initializer_list<std::string_view> words, const std::string& local) {
    return reply_as_cluster(request(words), *parts, Protocol::kResp2, local);
  }
  bool rewrites(std::initializer_list<std::string_view> words, PartRequest of = {}) {
    return rewrites_for_cluster(request(words), of, *parts, state);
  }

  ClientState state;
};

TEST_F(PresentedToClientTest, TheProxyAnswersAboutTheCluster) {
  begin();
  EXPECT_TRUE(answers({"CLUSTER", "SLOTS"}));
  EXPECT_TRUE(answers({"READONLY"}));
  EXPECT_EQ(reply({"READONLY"}, "10.0.0.5:6380"), "+OK\r\n");
  EXPECT_THAT(reply({"CLUSTER", "SLOTS"}, "10.0.0.5:6380"), HasSubstr("$8\r\n10.0.0.5\r\n:6380"));
  EXPECT_THAT(reply({"CLUSTER", "SLOTS"}, "/run/a.sock"), StartsWith("-ERR heatsink: "));
}

TEST_F(PresentedToClientTest, TheServerRefusesWhatItAloneMayRefuse) {
  begin();
  EXPECT_FALSE(answers({"READONLY", "x"})) << "wrong arguments";
  EXPECT_FALSE(answers({"CLUSTER", "SLOTS"}, true)) << "a subscriber in RESP2";
  EXPECT_TRUE(answers({"CLUSTER", "COUNTKEYSINSLOT", "1"}));
  shared->is_cluster_node = true;
  EXPECT_FALSE(answers({"CLUSTER", "COUNTKEYSINSLOT", "1"})) << "it knows its keys";
  state.transaction_failed_ = true;
  EXPECT_FALSE(answers({"CLUSTER", "SLOTS"}));
}

TEST_F(PresentedToClientTest, RepliesOutsideTransactionsAreRewritten) {
  begin();
  const PartRequest hello(SessionPart::kIdentity);
  EXPECT_TRUE(rewrites({"INFO"}) && rewrites({"HELLO", "3"}, hello));
  EXPECT_FALSE(rewrites({"HELLO", "3"}) || rewrites({"GET", "a"}));
  state.in_multi_ = true;
  EXPECT_FALSE(rewrites({"INFO"}));
}

TEST_F(PresentedToClientTest, WithoutTheOptionTheProxyIsAServer) {
  start();
  EXPECT_FALSE(answers({"CLUSTER", "SLOTS"}) || rewrites({"INFO"}));
}

}  // namespace
}  // namespace heatsink::proxy
