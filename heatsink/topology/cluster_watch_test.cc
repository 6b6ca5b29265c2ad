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
      watch_.answered(asked_, view, reply("-ERR unknown subcommand 'SHARDS'\r\n"), now_);
      advance(ClusterWatch::kPause);
    }
    EXPECT_TRUE(old_form_);
    watch_.answered(asked_, view, slots_of(port), now_);
  }

  ClusterDirectory directory_{*net::parse_upstream_url("redis+cluster://127.0.0.1:7000")};
  ClusterWatch watch_{directory_, *this, {{"127.0.0.1", 7000}, {"127.0.0.1", 7001}}, 1};
  TimePoint now_ = TimePoint(std::chrono::seconds(1000));
  int questions_ = 0;
  NodeIndex asked_ = kNoNode;
  bool old_form_ = false;
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

TEST_F(ClusterWatchTest, ADownClusterHasAMapAtTheStart) {
  advance(Nanos(0));
  answer(info(false, 1), 7000);
  EXPECT_EQ(owner(), "127.0.0.1:7000");
}

}  // namespace
}  // namespace heatsink::topology
