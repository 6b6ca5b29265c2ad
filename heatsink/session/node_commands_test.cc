// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/node_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heatsink/redis/upstream_address.h"
#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A cluster of one master, 127.0.0.1:7001, with all slots, and its replica 127.0.0.1:7002.
class NodeCommandsTest : public ReliefTest, public NodeCommands::Client {
 protected:
  void begin() {
    start();
    topology::AnnouncedShard all;
    all.master = {"127.0.0.1", 7001};
    all.replicas = {{"127.0.0.1", 7002}};
    all.slots = {{0, resp::kSlots - 1}};
    shared->cluster.publish({all}, all.master, 1);
  }
  std::string run(std::initializer_list<std::string_view> words) {
    answer.clear();
    asked = &request(words);
    EXPECT_TRUE(NodeCommands::asks(*asked));
    NodeCommands(*parts, commands, *this).run(*asked);
    return answer;
  }

  KnownCommands commands{nullptr};
  Request* asked = nullptr;
  std::string answer;
  std::vector<std::string> forwarded;

 private:
  std::shared_ptr<const topology::SlotMap> slot_map() const override {
    return shared->cluster.map();
  }
  Step reply(std::string_view wire) override {
    answer = wire;
    return Step::kDone;
  }
  Step reply_error(std::string_view text) override {
    answer = "-" + std::string(text);
    return Step::kDone;
  }
  Step forward_to_node(Request& inner) override {
    forwarded.push_back(inner.waited_for().redirected_to->url().address.text() + " " +
                        inner.waited_for().connection_error + std::string(inner.args()[0]));
    return Step::kDone;
  }
};

TEST_F(NodeCommandsTest, ListsMastersWithTheirReplicas) {
  begin();
  EXPECT_EQ(run({"HEATSINK", "NODES"}),
            "*2\r\n*2\r\n$14\r\n127.0.0.1:7001\r\n$21\r\nmaster of 16384 slots\r\n"
            "*2\r\n$14\r\n127.0.0.1:7002\r\n$25\r\nreplica of 127.0.0.1:7001\r\n");
  EXPECT_THAT(run({"heatsink", "nodes", "x"}), HasSubstr("wrong number of arguments"));
}

TEST_F(NodeCommandsTest, SendsACommandToTheNodeThatItNames) {
  begin();
  EXPECT_EQ(run({"HEATSINK", "NODE", "127.0.0.1:7002", "INFO"}), "");
  EXPECT_THAT(forwarded, testing::ElementsAre("127.0.0.1:7002 INFO"));
}

TEST_F(NodeCommandsTest, TheNodesCommandGetsWhyThereIsNoConnection) {
  begin();
  Request& request = ReliefTest::request({"HEATSINK", "NODE", "127.0.0.1:7001", "INFO"});
  request.waited().connection_error = "refused ";
  NodeCommands(*parts, commands, *this).run(request);
  EXPECT_THAT(forwarded, testing::ElementsAre("127.0.0.1:7001 refused INFO"));
  EXPECT_EQ(request.waited_for().connection_error, "");
}

TEST_F(NodeCommandsTest, RefusesWhatIsNotAboutANode) {
  begin();
  EXPECT_THAT(run({"HEATSINK", "NODE", "127.0.0.1:9", "INFO"}), HasSubstr("has no node"));
  EXPECT_THAT(run({"HEATSINK", "NODE", "127.0.0.1:7001", "GET", "a"}), HasSubstr("none with keys"));
  EXPECT_THAT(run({"HEATSINK", "NODE", "127.0.0.1:7001", "MULTI"}), HasSubstr("none that changes"));
  EXPECT_THAT(run({"HEATSINK", "NODE", "127.0.0.1:7001", "NOSUCH"}), HasSubstr("unknown command"));
  EXPECT_THAT(run({"HEATSINK", "NODE", "127.0.0.1:7001"}), HasSubstr("wrong number"));
  EXPECT_THAT(forwarded, IsEmpty());
}

TEST_F(NodeCommandsTest, NeedsACluster) {
  start();
  EXPECT_THAT(run({"HEATSINK", "NODES"}), HasSubstr("there is no cluster"));
  EXPECT_FALSE(NodeCommands::asks(request({"HEATSINK", "BARRIER"})));
}

}  // namespace
}  // namespace heatsink::proxy
