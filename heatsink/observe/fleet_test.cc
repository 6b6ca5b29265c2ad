// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/fleet.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "heatsink/observe/make_source.h"
#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Args = ScriptedServer::Args;

// Servers a:1, b:1, c:1 that share the slots; each has one key, "of-a:1", read `rate` times a
// second, and an access counter for it.
class FleetTest : public testing::Test {
 protected:
  struct Server {
    double rate = 100;
    bool is_up = true;
    bool is_master = true;
    bool has_slots = true;
    bool may_info = true;
    int more_keys = 0;
    int databases = 1;     // each with the same keys
    bool is_slow = false;  // a connection to it is never made, nor refused
  };

  FleetOptions options(const std::vector<std::string>& sources, NodeChoice choice = {}) {
    FleetOptions out;
    out.seed = {"a", 1};
    out.seed_name = "a:1";
    out.choice = std::move(choice);
    for (const std::string& name : sources) {
      out.plans.push_back({name, is_for_each_node(name), [this, name](const std::string& node) {
                             made_.push_back(name + "@" + node);
                             SourceOptions how;
                             how.server = node;
                             return make_source(name, how).value();
                           }});
    }
    return out;
  }

  std::string shards() {
    std::vector<std::string> out;
    int slot = 0;
    for (const auto& [name, server] : servers_) {
      if (!server.is_master) continue;
      const std::string host = name.substr(0, name.find(':'));
      const std::string node = list(
          {bulk("port"), number(1), bulk("endpoint"), bulk(host), bulk("role"), bulk("master")});
      const std::string slots =
          server.has_slots ? list({number(slot), number(slot + 99)}) : list({});
      out.push_back(list({bulk("slots"), slots, bulk("nodes"), list({node})}));
      slot += 100;
    }
    return list(out);
  }

  std::string answer(const std::string& name, const Args& args) {
    Server& server = servers_[name];
    if (args[0] == "CLUSTER" && args[1] == "SHARDS")
      return no_cluster_.empty() ? shards() : no_cluster_;
    if (args[0] == "CLUSTER" && args[1] == "SLOTS") return no_cluster_;
    if (args[0] == "INFO" && args[1] == "commandstats") {
      const double s = std::chrono::duration<double>(now_.time_since_epoch()).count();
      return server.may_info
                 ? bulk(fmt::format("cmdstat_get:calls={:.0f},usec=1\r\n", s * server.rate))
                 : "-NOPERM no\r\n";
    }
    if (args[0] == "INFO" && args[1] == "keyspace") {
      std::string all;
      for (int db = 0; db < server.databases; ++db)
        all += fmt::format("db{}:keys=1,expires=0\r\n", db);
      return bulk(all);
    }
    if (args[0] == "INFO") return bulk("");
    if (args[0] == "CONFIG")
      return list({bulk(args[2]), bulk(args[2] == "maxmemory-policy" ? "allkeys-lfu" : "1")});
    if (args[0] == "SCAN") {
      std::vector<std::string> keys{bulk("of-" + name)};
      for (int i = 0; i < server.more_keys; ++i) keys.push_back(bulk(fmt::format("more:{}", i)));
      return list({bulk("0"), list(keys)});
    }
    if (args[0] == "OBJECT" && args[1] == "ENCODING") return bulk("raw");
    if (args[0] == "OBJECT") return number(args[2].starts_with("more") ? 50 : 100);
    if (args[0] == "TYPE") return "+string\r\n";
    if (args[0] == "SELECT") return "+OK\r\n";
    return "-ERR no\r\n";
  }

  // Lets virtual time pass: connects the wanted connections and answers their commands.
  Picture after(Nanos duration) {
    for (const TimePoint end = now_ + duration; now_ < end; now_ += Millis(10)) turn();
    return fleet_->observe(now_);
  }
  void begin(FleetOptions options) { fleet_.emplace(std::move(options)); }

  void turn() {
    fleet_->tick(now_);
    std::vector<std::pair<std::string, ConnectionSpec>> connections;
    if (const auto connection = fleet_->guide_connection())
      connections.emplace_back("a:1", *connection);
    for (const auto& node : fleet_->nodes())
      for (const ConnectionSpec& connection : node->connections)
        connections.emplace_back(node->name, connection);
    std::set<std::uint64_t> still;
    for (const auto& [name, connection] : connections) {
      serve(name, connection);
      if (open_.contains(connection.id)) still.insert(connection.id);
    }
    open_ = still;
  }

  void serve(const std::string& name, const ConnectionSpec& connection) {
    ServerProtocol& protocol = *connection.protocol;
    if (!protocol.wanted()) {
      open_.erase(connection.id);
      return;
    }
    const bool is_up = servers_[name].is_up;
    if (!is_up) {
      open_.erase(connection.id);
      return protocol.lost({ErrorCode::kUnavailable, "Connection refused"}, now_);
    }
    if (servers_[name].is_slow) return;
    if (open_.insert(connection.id).second) protocol.connected(now_);
    while (!protocol.output().empty()) {
      resp::Value request;
      std::size_t consumed = 0;
      ASSERT_EQ(resp::parse_value(protocol.output().view(), request, consumed),
                resp::ValueStatus::kValue);
      protocol.output().consume(consumed);
      Args args;
      for (const resp::Value& item : request.items) args.push_back(item.text);
      const std::string reply = args[0] == "CLIENT" ? "+OK\r\n" : answer(name, args);
      if (const Status ok = protocol.received(reply, now_); !ok)
        return protocol.lost(ok.error(), now_);
    }
  }

  static std::vector<std::string> names(const Picture& seen) {
    std::vector<std::string> out;
    for (const NodeSeen& node : seen.nodes) out.push_back(node.name);
    return out;
  }
  static std::vector<std::string> keys(const Picture& seen) {
    std::vector<std::string> out;
    for (const auto& row : seen.sources.front().report.keys) out.push_back(row.verdict.count.key);
    std::ranges::sort(out);
    return out;
  }

  std::map<std::string, Server> servers_{{"a:1", {}}, {"b:1", {}}, {"c:1", {}}};
  std::string no_cluster_;
  std::vector<std::string> made_;
  std::set<std::uint64_t> open_;
  TimePoint now_{seconds(100)};
  std::optional<Fleet> fleet_;
};

TEST_F(FleetTest, AScanIsOfAllMasters) {
  begin(options({"lfu"}));
  const Picture seen = after(seconds(3));
  EXPECT_TRUE(seen.is_cluster);
  EXPECT_THAT(names(seen), ElementsAre("a:1", "b:1", "c:1"));
  EXPECT_THAT(keys(seen), ElementsAre("of-a:1", "of-b:1", "of-c:1"));
  const Observation& all = seen.sources[0];
  EXPECT_EQ(all.state, SourceState::kFinished);
  EXPECT_EQ(all.progress, 1);
  EXPECT_EQ(all.node_of_row[0], "a:1");
  EXPECT_THAT(all.facts.cost, HasSubstr("on each of 3 nodes"));
  EXPECT_EQ(all.note, "");
  EXPECT_EQ(seen.nodes[1].load->reads_rate, 100);
}

TEST_F(FleetTest, TheKeyThatAPersonLooksAtIsAskedForWhateverItsRank) {
  servers_["b:1"].more_keys = 30;
  begin(options({"lfu"}));
  const auto details_of = [this](const std::string& key) {
    const Observation seen = after(seconds(2)).sources[0];
    for (std::size_t i = 0; i < seen.report.keys.size(); ++i) {
      if (seen.report.keys[i].verdict.count.key == key) return seen.details[i];
    }
    ADD_FAILURE() << "no row of " << key;
    return std::optional<KeyDetails>();
  };
  after(seconds(3));
  EXPECT_EQ(details_of("of-a:1")->encoding, "raw");
  EXPECT_FALSE(details_of("more:25"));
  fleet_->look_closer(CloserKey{"more:25"});
  details_of("more:25");  // from now on it is asked for
  EXPECT_EQ(details_of("more:25")->type, "string");
  EXPECT_EQ(details_of("of-a:1")->type, "string");
  fleet_->look_closer(CloserKey{"more:25", 7});  // that is another one
  details_of("more:25");
  EXPECT_FALSE(details_of("more:25"));
}

TEST_F(FleetTest, AKeyOfSeveralDatabasesIsAskedForInEach) {
  no_cluster_ = "-ERR This instance has cluster support disabled\r\n";
  servers_["a:1"].databases = 40;
  begin(options({"lfu"}));
  fleet_->look_closer(CloserKey{"of-a:1"});
  after(seconds(3));
  const Observation seen = after(seconds(2)).sources[0];
  ASSERT_EQ(seen.report.keys.size(), 40U);
  for (std::size_t i = 0; i < seen.details.size(); ++i)
    EXPECT_EQ(seen.details[i].has_value(), i < Fleet::kCloserMax) << i;
}

TEST_F(FleetTest, AServerThatIsNoClusterIsLookedAtAlone) {
  no_cluster_ = "-ERR This instance has cluster support disabled\r\n";
  begin(options({"lfu"}));
  const Picture seen = after(seconds(3));
  EXPECT_FALSE(seen.is_cluster);
  EXPECT_THAT(seen.nodes, IsEmpty());
  EXPECT_THAT(keys(seen), ElementsAre("of-a:1"));
  EXPECT_THAT(seen.sources[0].node_of_row, IsEmpty());
  EXPECT_FALSE(fleet_->guide_connection());  // it is not asked again
}

TEST_F(FleetTest, WhereAskingIsForbiddenTheServerIsLookedAtAlone) {
  no_cluster_ = "-NOPERM this user has no permissions to run the 'cluster|shards' command\r\n";
  begin(options({"lfu"}));
  EXPECT_THAT(keys(after(seconds(3))), ElementsAre("of-a:1"));
}

TEST_F(FleetTest, OfANodeThatCannotBeReachedThatIsSaidAndTheOthersAreShown) {
  servers_["c:1"].is_up = false;
  begin(options({"lfu"}));
  Picture seen = after(seconds(3));
  EXPECT_THAT(keys(seen), ElementsAre("of-a:1", "of-b:1"));
  EXPECT_THAT(seen.sources[0].note,
              HasSubstr("1 of 3 masters cannot be reached (c:1: Connection refused)"));
  EXPECT_FALSE(seen.nodes[2].is_up);
  EXPECT_EQ(seen.nodes[2].trouble, "Connection refused");
  servers_["c:1"].is_up = true;
  EXPECT_THAT(keys(after(seconds(3))), ElementsAre("of-a:1", "of-b:1", "of-c:1"));
}

TEST_F(FleetTest, ABurdenIsPutOnTheBusiestAlone) {
  servers_["b:1"].rate = 5000;
  begin(options({"monitor"}));
  const Picture early = after(seconds(1));
  EXPECT_EQ(early.sources[0].state, SourceState::kStarting);
  EXPECT_TRUE(early.sources[0].report.upstream_up);
  EXPECT_EQ(early.sources[0].note, "measuring which of 3 masters is the busiest");
  EXPECT_THAT(made_, IsEmpty());
  const Picture seen = after(seconds(4));
  EXPECT_THAT(made_, ElementsAre("monitor@b:1"));
  EXPECT_THAT(seen.sources[0].note, HasSubstr("watching 1 of 3 masters, the busiest: b:1"));
  EXPECT_FALSE(seen.nodes[0].is_watched);
  EXPECT_TRUE(seen.nodes[1].is_watched);
}

TEST_F(FleetTest, ThatNobodyHasAnsweredYetIsNoTrouble) {
  servers_["b:1"].rate = 5000;
  begin(options({"monitor"}));
  for (; made_.empty() && now_ < TimePoint(seconds(110)); now_ += Millis(10)) turn();
  const Observation chosen = fleet_->observe(now_).sources[0];  // before its first connection
  EXPECT_FALSE(chosen.report.upstream_up);
  EXPECT_THAT(chosen.note, HasSubstr("the busiest: b:1"));
  EXPECT_EQ(chosen.trouble, "");
  servers_["b:1"].is_up = false;
  EXPECT_EQ(after(seconds(1)).sources[0].trouble, "Connection refused");
}

TEST_F(FleetTest, TheBusiestIsNotChosenBeforeAllHaveAnsweredOrFailed) {
  servers_["c:1"].is_slow = true;
  begin(options({"monitor"}));
  EXPECT_EQ(after(seconds(30)).sources[0].trouble, "");
  EXPECT_THAT(made_, IsEmpty());
  servers_["c:1"].is_slow = false;
  servers_["c:1"].rate = 5000;
  after(seconds(3));
  EXPECT_THAT(made_, ElementsAre("monitor@c:1"));
}

TEST_F(FleetTest, AllTroubleIsToldWhereNobodyCanBeReached) {
  begin(options({"monitor"}));
  after(Millis(500));
  for (auto& [name, server] : servers_) server.is_up = false;
  EXPECT_THAT(after(seconds(3)).sources[0].trouble,
              HasSubstr("3 of 3 masters cannot be reached (a:1: Connection refused)"));
}

TEST_F(FleetTest, TheBusiestIsLeftOnlyForOneThatIsMuchBusierForLong) {
  servers_["b:1"].rate = 1000;
  begin(options({"monitor"}));
  after(seconds(5));
  const auto set_rate = [this](const std::string& name, double rate) {  // calls never go back
    servers_[name].rate = rate;
  };
  set_rate("c:1", 1500);
  after(seconds(30));
  EXPECT_THAT(made_, ElementsAre("monitor@b:1"));
  set_rate("c:1", 9000);
  after(seconds(9));
  EXPECT_THAT(made_, ElementsAre("monitor@b:1"));
  after(seconds(15));
  EXPECT_THAT(made_, ElementsAre("monitor@b:1", "monitor@c:1"));
}

TEST_F(FleetTest, WhoMayNotTellItsLoadIsNotWaitedForLong) {
  for (auto& [name, server] : servers_) server.may_info = false;
  begin(options({"monitor"}));
  after(seconds(10));
  EXPECT_THAT(made_, ElementsAre("monitor@a:1"));
}

TEST_F(FleetTest, ANodeMayBeChosen) {
  begin(options({"monitor", "lfu"}, parse_node_choice("c:1").value()));
  after(seconds(1));
  EXPECT_THAT(made_, ElementsAre("monitor@c:1", "lfu@c:1"));
}

TEST_F(FleetTest, ANodeThatThereIsNotIsToldWithThoseThereAre) {
  begin(options({"lfu"}, parse_node_choice("d:1").value()));
  const Picture seen = after(seconds(2));
  EXPECT_EQ(seen.sources[0].state, SourceState::kFailed);
  EXPECT_EQ(seen.sources[0].note, "the cluster has no master d:1; its masters are a:1, b:1, c:1");
}

TEST_F(FleetTest, AllMayBeChosen) {
  begin(options({"monitor"}, parse_node_choice("all").value()));
  after(seconds(1));
  EXPECT_THAT(made_, ElementsAre("monitor@a:1", "monitor@b:1", "monitor@c:1"));
}

TEST_F(FleetTest, MastersComeAndGo) {
  servers_["d:1"].is_master = false;
  begin(options({"lfu"}));
  after(seconds(3));
  servers_["d:1"].is_master = true;  // a fail-over
  servers_["a:1"].is_master = false;
  servers_["a:1"].is_up = false;
  const Picture seen = after(seconds(12));
  EXPECT_THAT(names(seen), ElementsAre("b:1", "c:1", "d:1"));
  EXPECT_THAT(keys(seen), ElementsAre("of-b:1", "of-c:1", "of-d:1"));
  EXPECT_THAT(made_, ElementsAre("lfu@a:1", "lfu@b:1", "lfu@c:1", "lfu@d:1"));
}

TEST_F(FleetTest, AServerThatCannotBeReachedAtFirstMayTurnOutToBeACluster) {
  servers_["a:1"].is_up = false;
  begin(options({"lfu"}));
  const Picture away = after(seconds(1));
  EXPECT_FALSE(away.is_cluster);
  EXPECT_EQ(away.sources[0].note, "Connection refused");
  servers_["a:1"].is_up = true;
  EXPECT_THAT(names(after(seconds(8))), ElementsAre("a:1", "b:1", "c:1"));
}

TEST_F(FleetTest, AMasterWithoutSlotsIsNotObserved) {
  servers_["b:1"].has_slots = false;
  begin(options({"lfu"}));
  EXPECT_THAT(names(after(seconds(2))), ElementsAre("a:1", "c:1"));
}

TEST_F(FleetTest, NoMoreThanSomeAreLookedAt) {
  for (int i = 0; i < 100; ++i) servers_[fmt::format("n{:03}:1", i)] = {};
  begin(options({"lfu"}));
  const Picture seen = after(seconds(2));
  EXPECT_EQ(seen.nodes.size(), Fleet::kNodesMax);
  EXPECT_THAT(seen.sources[0].note, HasSubstr("watching 64 of 103 masters"));
}

TEST(NodeChoice, IsReadAsAPersonTypesIt) {
  EXPECT_EQ(parse_node_choice("")->kind, NodeChoice::Kind::kBySource);
  EXPECT_EQ(parse_node_choice("all")->kind, NodeChoice::Kind::kAll);
  EXPECT_EQ(parse_node_choice("busiest")->kind, NodeChoice::Kind::kBusiest);
  EXPECT_EQ(parse_node_choice("[::1]:7000")->name, "[::1]:7000");
  EXPECT_FALSE(parse_node_choice("every"));
  EXPECT_FALSE(parse_node_choice(":7000"));
}

}  // namespace
}  // namespace heatsink::observe
