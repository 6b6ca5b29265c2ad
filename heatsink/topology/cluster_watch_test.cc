// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/cluster_watch.h"

#include <gtest/gtest.h>

namespace heatsink::topology {
namespace {

resp::Value reply(std::string_view wire) {
  resp::Value value;
  std::size_t used = 0;
  EXPECT_EQ(resp::parse_value(wire, value, used), resp::ValueStatus::kValue);
  return value;
}

resp::Value info(bool ok, int epoch) {
  resp::Value value;
  value.type = resp::Value::Type::kString;
  value.text = std::string("cluster_enabled:1\r\ncluster_state:") + (ok ? "ok" : "fail") +
               "\r\ncluster_current_epoch:" + std::to_string(epoch) + "\r\n";
  return value;
}

// All are of 7000 and 7001, which have an unchanged slot each, and one of them the rest.
resp::Value two_masters(int port) {
  const auto range = [](int first, int last, int of) {
    return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) +
           "\r\n*3\r\n$9\r\n127.0.0.1\r\n:" + std::to_string(of) + "\r\n$4\r\n" +
           std::to_string(of) + "\r\n";
  };
  return reply("*3\r\n" + range(0, 0, 7000) + range(1, 1, 7001) + range(2, 16383, port));
}

resp::Value nodes_reply(int epoch_of_7000, int epoch_of_7001) {
  resp::Value value;
  value.type = resp::Value::Type::kString;
  value.text = "7000 127.0.0.1:7000@17000 myself,master - 0 0 " + std::to_string(epoch_of_7000) +
               " connected 0\n7001 127.0.0.1:7001@17001 master - 0 0 " +
               std::to_string(epoch_of_7001) + " connected 1\n";
  return value;
}

resp::Value slots_of(int port) {
  return reply("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + std::to_string(port) +
               "\r\n");
}

class ClusterWatchTest : public testing::Test, public ClusterWatch::Asker {
 protected:
  void ask(NodeIndex node, bool old_form) override {
    ++questions_;
    asked_ = node;
    old_form_ = old_form;
  }
  std::string where() { return directory_.node(asked_).where(); }
  std::string owner() {
    const auto map = directory_.map();
    return map == nullptr ? "nobody" : directory_.node(map->owner(0)).where();
  }
  void advance(Nanos time) {
    now_ += time;
    watch_.tick(now_);
  }

  // Answers in the old form, whatever was asked for: asks again for that if need be.
  void answer(const resp::Value& view, int port) {
    if (!old_form_) {
      watch_.answered(asked_, {view, {}, reply("-ERR unknown subcommand 'SHARDS'\r\n")});
      advance(ClusterWatch::kPause);
    }
    EXPECT_TRUE(old_form_);
    watch_.answered(asked_, {view, nodes_, slots_of(port)});
  }

  ClusterDirectory directory_{*net::parse_upstream_url("redis+cluster://127.0.0.1:7000")};
  ClusterWatch watch_{directory_, *this, {{"127.0.0.1", 7000}, {"127.0.0.1", 7001}}, 1};
  TimePoint now_ = TimePoint(std::chrono::seconds(1000));
  int questions_ = 0;
  NodeIndex asked_ = kNoNode;
  bool old_form_ = false;
  resp::Value nodes_;  // the reply to CLUSTER NODES
};

TEST_F(ClusterWatchTest, AsksTheSeedsInTurnUntilOneAnswers) {
  advance(Nanos(0));
  EXPECT_EQ(where(), "127.0.0.1:7000");
  watch_.failed(asked_, "connection refused");
  EXPECT_EQ(watch_.problem(), "node 127.0.0.1:7000: connection refused");
  watch_.tick(now_);
  EXPECT_EQ(questions_, 1);  // not at once
  advance(ClusterWatch::kPause);
  EXPECT_EQ(where(), "127.0.0.1:7001");
  answer(info(true, 1), 7002);
  EXPECT_EQ(owner(), "127.0.0.1:7002");
  EXPECT_EQ(watch_.problem(), "");
}

TEST_F(ClusterWatchTest, AsksAgainInTimeAndWhenTheMapIsOld) {
  advance(Nanos(0));
  answer(info(true, 1), 7000);
  const int asked = questions_;
  advance(ClusterWatch::kPause);
  EXPECT_EQ(questions_, asked);
  const auto hint = directory_.node_at({"127.0.0.1", 7005}, {});
  watch_.refresh_soon(hint);
  watch_.refresh_soon(std::nullopt);
  advance(ClusterWatch::kPause);
  EXPECT_EQ(questions_, asked + 1);
  EXPECT_EQ(asked_, *hint);
  answer(info(true, 1), 7005);
  EXPECT_EQ(owner(), "127.0.0.1:7005");
  const int before = questions_;
  advance(ClusterWatch::kEvery);
  EXPECT_EQ(questions_, before + 1);
}

TEST_F(ClusterWatchTest, ANodeThatIsCutOffDoesNotReplaceTheMap) {
  advance(Nanos(0));
  answer(info(true, 5), 7000);
  watch_.refresh_soon(std::nullopt);
  advance(ClusterWatch::kPause);
  answer(info(false, 9), 7001);
  EXPECT_EQ(owner(), "127.0.0.1:7000");
  advance(ClusterWatch::kPause);  // asks another one by itself
  answer(info(true, 4), 7001);
  EXPECT_EQ(owner(), "127.0.0.1:7000");
  EXPECT_NE(watch_.problem().find("old"), std::string::npos);
  advance(ClusterWatch::kPause);
  answer(info(true, 6), 7001);
  EXPECT_EQ(owner(), "127.0.0.1:7001");
}

// 7001 has the slots. It took them without a new epoch, so 7000 may not know it yet.
TEST_F(ClusterWatchTest, OfTwoOwnersTheOneWithTheHigherConfigEpochIsBelieved) {
  const auto owner_of_two = [&] { return directory_.node(directory_.map()->owner(2)).where(); };
  const auto answer_with = [&](int port) {
    watch_.answered(asked_, {info(true, 2), nodes_reply(1, 2), two_masters(port)});
  };
  advance(Nanos(0));
  old_form_ = true;
  watch_.answered(asked_, {info(true, 2), {}, reply("-ERR unknown subcommand 'SHARDS'\r\n")});
  advance(ClusterWatch::kPause);
  answer_with(7001);
  EXPECT_EQ(owner_of_two(), "127.0.0.1:7001");
  const auto stale = directory_.node_at({"127.0.0.1", 7000}, {});
  const auto ask_in_the_old_form = [&] {
    advance(ClusterWatch::kPause);
    watch_.answered(asked_, {info(true, 2), {}, reply("-ERR unknown subcommand 'SHARDS'\r\n")});
    advance(ClusterWatch::kPause);
  };
  watch_.refresh_soon(stale);
  ask_in_the_old_form();
  EXPECT_EQ(where(), "127.0.0.1:7000");
  answer_with(7000);
  EXPECT_EQ(owner_of_two(), "127.0.0.1:7001");
  EXPECT_NE(watch_.problem().find("older than that of 127.0.0.1:7001"), std::string::npos);
  // The other one knows, whatever requests say meanwhile.
  watch_.refresh_soon(stale);
  ask_in_the_old_form();
  EXPECT_EQ(where(), "127.0.0.1:7001");
  answer_with(7000);
  EXPECT_EQ(owner_of_two(), "127.0.0.1:7000");
}

TEST_F(ClusterWatchTest, AMissingRightIsTold) {
  const resp::Value refusal =
      reply("-NOPERM User app has no permissions to run the 'cluster|info' command\r\n");
  advance(Nanos(0));
  watch_.answered(asked_, {refusal, refusal, refusal});
  EXPECT_TRUE(watch_.lacks_a_right());
  advance(ClusterWatch::kPause);
  watch_.answered(asked_, {refusal, {}, slots_of(7000)});
  EXPECT_TRUE(watch_.lacks_a_right());
  EXPECT_NE(watch_.problem().find("'cluster|info'"), std::string::npos) << watch_.problem();
  advance(ClusterWatch::kPause);
  answer(info(true, 1), 7000);
  EXPECT_FALSE(watch_.lacks_a_right());
}

TEST_F(ClusterWatchTest, ADownClusterHasAMapAtTheStart) {
  advance(Nanos(0));
  answer(info(false, 1), 7000);
  EXPECT_EQ(owner(), "127.0.0.1:7000");
}

}  // namespace
}  // namespace heatsink::topology
